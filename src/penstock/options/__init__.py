"""Every option, written once: its name, type, help, group and bounds, and the recipes that it works with.

The command line's parameters, the service's request models, the typed dictionaries of the Python API
(`typed.py`, which tools/option_types.py writes) and the reference pages are made of these rows.

A default stands in one place. A row that has one owns it, and the options of a pass read it from the row.
A row without one leaves it to the recipe's function, because recipes differ: `documents` renders at 200 dpi,
`grounded` at 144. What was not given is not handed on.

Nothing here runs a recipe, and importing it loads no numpy, pyarrow or torch.
"""
