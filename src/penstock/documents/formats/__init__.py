"""Formats that a document is written in: Markdown, HTML, Docling, MinerU, GLM-OCR, searchable PDF.

One module a format, regions or DocJSON in and text or bytes out. No module here opens a run.
"""
