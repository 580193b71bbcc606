"""Typed values of a document, by a schema of one's own, each with the place that proves it.

Not here: the client of a language model (engines/chat/json_answers.py), and where results are kept.
"""
