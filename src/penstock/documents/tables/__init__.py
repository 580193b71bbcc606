"""Tables: finds where they are, makes cells of lines, rules and white space, writes and reads their HTML.

Not here: the network that sees a table's cells (engines/table), and tables as DocJSON publishes them.
"""
