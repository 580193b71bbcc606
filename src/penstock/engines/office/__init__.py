"""Files that say themselves what they hold: Office, HWPX, the web, mail, plain text. Bytes in, blocks out.

A reader here takes headings, lists, tables, notes, formulas and pictures as the file has them. It looks at no
page, fetches nothing, runs nothing, and writes nothing. Packages of the extras `office` and `hwp` read the
binary kinds; all others are read with Python's own library.
"""
