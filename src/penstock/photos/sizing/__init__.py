"""How large the things of a photo are: outlines, cameras that may have taken it, boxes that fit, depth."""
