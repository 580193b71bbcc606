"""Files that people and other programs read, written from a finished run.

An export reads OUT and writes below it. Not here: the ledger itself (store/), what a format looks like
(documents/formats), what search reads (search/).
"""
