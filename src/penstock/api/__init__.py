"""The Python API: `convert` for one document, and the verbs of the command line as functions.

What answers until it is stopped (serve, mcp, engine) and doctor are commands only.

Each takes and gives plain values; the passes below do the work, as they do for the command line and the
service. A file for each kind of work, so that a program that converts loads neither photos nor evaluation.
"""
