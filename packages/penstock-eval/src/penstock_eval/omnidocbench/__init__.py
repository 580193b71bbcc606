"""OmniDocBench end to end (Ouyang et al. 2024): cuts Markdown into elements, matches and scores them.

Each version of the benchmark matches differently and gives other numbers for the same predictions, so every
result names its protocol. Keeps quirks of the official programs that change scores; a comment or
docstring at the place calls each a quirk.
"""
