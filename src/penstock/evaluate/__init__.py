"""How good the pages are: metrics, benchmarks, reports, and comparisons of two runs.

Scores any folder of predictions, ours or another tool's, with the same code. Reads documents and
items; never runs an executor or opens a store.
"""
