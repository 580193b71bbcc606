"""OmniDocBench v1.6: the truth stays as annotated, the prediction's granularity is searched.

Formulas of several lines are cut or joined until they fit the truth's own cutting, badly matched text
looks for a better stretch of predictions near it, and cells, text and formulas are cleaned harder
than in v1.5. Quirks that move scores are kept and said to be quirks where they stand.
"""
