"""Made scenes whose truth is known: drawn and measured rooms, shapes, photographed pages.

Benchmarks score with them, and tests claim with them. They are not part of the distribution.
"""
