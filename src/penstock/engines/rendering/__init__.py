"""Prints Office files and HWP as PDFs, so that they have pages, boxes and pictures as any PDF.

Each renderer runs where it can be killed. It fetches nothing, runs no macro, and writes into one folder.
"""
