"""Scripts that score what is read."""
