"""The card that goes to the Hub with a run: what people read of it, and what programs read of it.

Uploading itself is `passes/upload.py`; the Hub's client is called in `sources/remote/hub.py`.
"""
