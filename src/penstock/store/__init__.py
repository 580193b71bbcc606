"""The ledger of a run and nothing else: rows in shards, failures, run.json, the lock, the source order.

It names neither stages nor documents. Files for people are written by exports/.
"""
