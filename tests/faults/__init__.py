"""Faults of the file system, made by machine: each call fails once, or is a process's last."""
