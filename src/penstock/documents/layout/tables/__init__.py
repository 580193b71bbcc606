"""Tables of a text layer: where they stand, and their cells where lines or white show them.

Not here: the network that reads a table's picture (engines/table).
"""
