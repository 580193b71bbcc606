"""What stands between strangers and the service: connections, bodies, origins, keys, addresses it may fetch.

Nothing here knows what a document is.
"""
