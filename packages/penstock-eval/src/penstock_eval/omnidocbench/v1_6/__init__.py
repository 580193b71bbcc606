"""OmniDocBench v1.6: keeps the truth as annotated and tries to cut and join the prediction to fit it.

Cuts or joins formulas of several lines until they fit the true ones, looks near badly matched text for a
better run of predictions, and cleans cells, text and formulas harder than v1.5. Keeps quirks of the
official program that change scores; a comment or docstring at the place calls each a quirk.
"""
