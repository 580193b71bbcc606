"""The development pages with their truth: which pages there are, what is on them, how each is scored.

Sources are listed by kind of truth: Markdown, XML of regions, tables, values that must occur. What is scored
and how is in scores.py; generalise.py reads the pages and prints the table.
"""
