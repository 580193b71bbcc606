"""What a document is and how it is written: its tables, its model, its formats.

Pages and regions in, data and text out. Not here: models (engines/), files of a run (store/, exports/).
"""
