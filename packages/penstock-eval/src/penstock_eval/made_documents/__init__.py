"""Documents of known content: a seed grows trees, writers make files of them, and the truth is the tree.

A writer follows what its format's specification says and what the real programs write. It imports no
reader of Penstock, so that a mistake of ours is not made twice.
"""
