"""Writes summaries and keywords of tables and pictures, by rules or by a language model.

What a block is and where its summary is kept belongs to `documents.docjson` and `workers`.
"""
