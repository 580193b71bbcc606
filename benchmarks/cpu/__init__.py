"""Scripts that need nothing but a CPU."""
