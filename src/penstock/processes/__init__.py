"""Processes that can be killed, and what a process needs: pools, pipes, cores, memory, scratch folders.

Not here: what runs in them. Executors, engines and sources bring that.
"""
