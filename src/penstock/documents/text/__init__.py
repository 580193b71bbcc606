"""Turns the words and lines of one page into rows, columns, paragraphs and running text.

Here belongs what places, fonts and characters say of text, whatever region it is in. Regions and their labels
belong in `documents/layout`, tables in `documents/tables`.
"""
