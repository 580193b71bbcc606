"""How well pages were read: metrics, benchmarks, scores, reports, and comparisons of two runs.

Scores any folder of predictions, ours or another tool's, with the same code. Reads and writes files, and
starts processes that score; runs no recipe, opens no OUT, downloads nothing: `passes.evaluate` does.
"""
