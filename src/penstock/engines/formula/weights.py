"""Where the formula reader's weights are: in the package, or where a variable says. Nothing is fetched."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.engines.formula.reader import DECODER, ENCODER, TOKENS

IN_PACKAGE = Path(__file__).parent / "network"


def formula_weights() -> Path | None:
    """Returns the folder of $PENSTOCK_FORMULA_WEIGHTS, else the package's own; None if it is not whole."""
    chosen = os.environ.get("PENSTOCK_FORMULA_WEIGHTS")
    folders = [Path(chosen).expanduser()] if chosen else [IN_PACKAGE]
    return next((folder for folder in folders if _is_whole(folder)), None)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (ENCODER, DECODER, TOKENS))
