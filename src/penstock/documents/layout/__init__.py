"""Gives regions their labels and their order on the page, and finds regions by rules alone.

What a region's words say belongs in `documents/text`, tables in `documents/tables`. What runs a model belongs
in `engines`.
"""
