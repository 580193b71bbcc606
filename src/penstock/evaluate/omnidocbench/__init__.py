"""OmniDocBench end to end (Ouyang et al. 2024): elements cut from Markdown, matched, scored, averaged.

Each version of the benchmark matches differently and gives other numbers for the same predictions,
so every result names its protocol. Quirks of the official programs that move scores are kept, and
said to be quirks where they stand.
"""
