"""What a grounded model answers for a whole page, read into regions: anchors, boxes, repetition.

Asking the model is the engines' work (engines/chat); the stage is workers/ground.py.
"""
