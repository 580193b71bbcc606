"""What finds pages again: the vectors of a run, its index, its words and the search over them.

Not here: the models that make vectors (engines/embed) and the runs that call them (passes/).
"""
