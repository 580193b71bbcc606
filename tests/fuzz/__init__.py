"""Mutated files, answers and requests, by the hundred thousand: `make fuzz`."""
