"""Other projects' shapes over our jobs, one file each: their clients work with this service.

Options without a counterpart here are ignored. How documents are read is the operator's decision.
"""
