"""The run that reads uploads: where they lie, in which order they are read, and how far each is.

HTTP is unknown here.
"""
