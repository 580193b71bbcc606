"""DocJSON, the document model: pages become blocks, sections, captions, tables as cells and chunks.

Other formats are made from it in formats/; the files of a run are written by exports/.
"""
