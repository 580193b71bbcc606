"""Workers of the passes over a finished run: pictures described, blocks summarised, fields extracted."""
