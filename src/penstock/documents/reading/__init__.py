"""Reads one page: a value that moves through named steps, from its text layer to regions with content.

The steps name no engine; who calls them brings the engines (steps.py). What a region's words and lines mean
belongs in `documents/text`, `documents/tables` and `documents/formulas`.
"""
