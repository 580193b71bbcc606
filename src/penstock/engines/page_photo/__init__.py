"""Photographs of pages made flat: the paper found, its text lines straightened, its shadows lifted.

Arrays in, arrays out. Not here: turning pages upright (engines/ocr/orient.py), reading them.
"""
