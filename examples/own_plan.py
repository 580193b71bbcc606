"""A plan of your own: the built-in stages in the order you want.

This one reads born-digital PDFs without any model.

python examples/own_plan.py [FILE]      (without FILE: the sample that ships with Penstock)
"""

from __future__ import annotations

import sys
from importlib import resources

import penstock
from penstock.stages.compose import Compose
from penstock.stages.load import Load
from penstock.stages.recognise import Recognise
from penstock.stages.rules import RulesLayout


def born_digital() -> penstock.Plan:
    return penstock.Plan(
        Load(dpi=100, render="auto"),  # pixels only where the text layer does not tell all
        RulesLayout(),
        Recognise(text_layer="always"),
        Compose(),
        name="born-digital",
    )


def main() -> None:
    sample = resources.files("penstock") / "sample" / "sample.pdf"
    path = sys.argv[1] if len(sys.argv) > 1 else str(sample)
    plan = born_digital()
    print(plan.describe(), end="\n\n")
    for page in penstock.parse(path, recipe=plan, pages="1-3"):
        print(f"page {page.part + 1}: {len(page.regions)} regions, {len(page.markdown)} characters")

    try:  # a plan that does not fit is refused before anything is loaded
        penstock.Plan(Load(), Compose())
    except penstock.PenstockError as exc:
        print(f"\n{exc}")


if __name__ == "__main__":
    main()
