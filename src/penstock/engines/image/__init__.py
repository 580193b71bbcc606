"""Pictures as arrays: decoded, encoded, cut. Models that look at them are in the folders beside."""
