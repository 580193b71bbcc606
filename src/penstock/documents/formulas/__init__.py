"""Formulas of born-digital pages: LaTeX from where the text layer's signs stand. No model is asked."""

from penstock.documents.formulas.layer import layer_formula

__all__ = ["layer_formula"]
