"""How surely a text was read: what readers say of themselves and of one another, and what that is worth.

Signals are kept apart; `likely_right` makes one number of them, by weights that were fitted on pages with a
truth (benchmarks/quality/confidence.py). Not here: what the readers are.
"""
