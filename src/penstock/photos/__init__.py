"""Gaussian clouds, volumes and what is known about furniture: arrays in, numbers out."""
