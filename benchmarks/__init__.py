"""Scripts that measure Penstock; see README.md. Not part of the distribution."""
