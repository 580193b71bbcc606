"""A client of `penstock serve`: the same words as in Python, the work on another machine.

It needs nothing but Python's own library.
"""
