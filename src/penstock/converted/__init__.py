"""One document as a Python object: what may be given, its pages on disk, and what people ask of it.

It reads through a pass, like every verb, and keeps the pages in a folder that goes with the object.
"""
