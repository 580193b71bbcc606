"""The built-in models' files: where they come from, whether they are whole, how ONNX opens them.

What a model computes belongs to the engine that uses it.
"""
