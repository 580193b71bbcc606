"""Files that hold documents: web archives and tar shards.

What reads an archive runs in a process that may write nothing; it gives the documents' bytes, and the listing
keeps them on this machine, where they are read like any file. What is in a document is not looked at here.
"""
