"""Turns boxes, words and lines of one page into regions in reading order with text.

Here belongs what follows from places, fonts and characters on a page. What runs a model belongs in
`engines`, what spans pages in `documents/docjson`, and what is written to files in `documents/formats`.
"""
