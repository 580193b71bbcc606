"""Embedders: texts and pictures in, vectors of length 1 out.

What is embedded and where vectors are kept belongs to `search` and `passes`.
"""
