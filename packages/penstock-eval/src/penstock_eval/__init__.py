"""How well pages are read and found: metrics, benchmarks, scores, reports, and comparisons of two runs.

Scores any folder of predictions, ours or another tool's, with the same code. penstock finds `cli`,
`benchmark_run` and `search_scores` by entry points; these run recipes and open an OUT, and the others do not.
"""

__version__ = "0.1.0"
