"""Measures a run and reports it: spans, progress, cards and servers, the profile and its pages.

Knows no plan, stage or engine by name: what it reports comes as spans, samples and a `Profile`.
"""
