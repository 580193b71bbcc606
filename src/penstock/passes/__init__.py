"""One module a pass over an OUT: parse, photos, enrich, embed, index, search, evaluate, upload, pipeline.

Typed options in, a run and a summary out. The command line, the service and the Python API call these and
put no run together themselves.
"""
