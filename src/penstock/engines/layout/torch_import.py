"""torch, for the modules of this folder that are written in it. Raises MissingModel where it is missing."""

from __future__ import annotations

from penstock.errors import MissingModel, install_advice


def missing(exc: ImportError) -> MissingModel:
    """What to install when a package of PP-DocLayoutV3 is not there."""
    return MissingModel(
        f"PP-DocLayoutV3 needs torch and transformers, and {exc.name} is not installed.",
        install_advice("gpu"),
    )


try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as exc:
    raise missing(exc) from exc

__all__ = ["functional", "missing", "nn", "torch"]
