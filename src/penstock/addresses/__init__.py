"""Where what was read stands, as one word: plain values that every room may name.

Not here: what opens them (exports/located.py), as that needs a run.
"""
