"""Reads LaTeX from pictures of formulas. It finds none: give it what a layout calls a formula."""
