"""Model adapters: arrays, bytes and text in, plain results out.

One package a subject. Nothing here knows items, plans, stages or the store; what a result means on a page is
decided in `documents`, and who calls an engine in `workers`.
"""
