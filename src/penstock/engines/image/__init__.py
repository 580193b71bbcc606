"""Pictures as arrays: decoded, encoded, cut. Models that read them are in the neighbouring folders."""
