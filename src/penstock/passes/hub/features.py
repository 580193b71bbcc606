"""The types of a line of ocr_results.jsonl, in the words of a card.

With them `datasets.load_dataset` reads a file whose first lines lack what later ones have, such as a failure.
"""

from __future__ import annotations

from typing import Any

# a word is a type, a dictionary a struct, a list holds what is in it
Shape = str | dict[str, Any] | list[Any]

_FAILURE = {"stage": "string", "kind": "string", "message": "string", "advice": "string"}
_LINE: dict[str, Shape] = {
    "locator": "string",
    "text": "string",
    "bbox": ["float64"],
    "confidence": "float64",
    "other": "string",
    "words": ["float64"],
}
_CELL: dict[str, Shape] = {
    "locator": "string",
    "row": "int64",
    "column": "int64",
    "bbox": ["float64"],
    "confidence": "float64",
    "other": "string",
}
_SIGNALS: dict[str, Shape] = {
    **dict.fromkeys(
        ("network", "weakest", "probability", "least_probability", "agreement", "digits", "script"), "float64"
    ),
    "marks": ["string"],
    "other": "string",
    "other_reader": "string",
}
REGION: dict[str, Shape] = {
    "index": "int64",
    "locator": "string",
    "label": "string",
    "bbox_2d": ["int64"],
    "content": "string",
    "native_label": "string",
    "score": "float64",
    "confidence": "float64",
    "reader": "string",
    "signals": _SIGNALS,
    "lines": [_LINE],
    "cells": [_CELL],
    "polygon": [["float64"]],
    "crop": "string",
    "links": [{"text": "string", "address": "string"}],
    "note": "string",
    "failure": _FAILURE,
}
PAGE: dict[str, Shape] = {
    "page_id": "string",
    "page_idx": "int64",
    "locator": "string",
    "regions": [REGION],
    "markdown": "string",
    "form": [{"name": "string", "label": "string", "text": "string", "bbox_2d": ["int64"]}],
    "image_crops": [{"path": "string", "bbox": ["int64"], "label": "string"}],
    "document": "string",
    "width": "int64",
    "height": "int64",
    "rotation": "int64",
    "valid": "bool",
    "failure": _FAILURE,
    "flattened": "string",
    "layer_fault": "string",
    "layout": "string",
    "choice": {"reader": "string", "reason": "string", "likely_wrong": "float64"},
}


def features(fields: dict[str, Shape]) -> list[dict[str, Any]]:
    """Returns the fields as a card's `dataset_info` has them."""
    return [{"name": name, **_feature(shape)} for name, shape in fields.items()]


def _feature(shape: Shape) -> dict[str, Any]:
    if isinstance(shape, str):
        return {"dtype": shape}
    if isinstance(shape, dict):
        return {"struct": features(shape)}
    [held] = shape
    if isinstance(held, dict):
        return {"list": features(held)}
    return {"sequence": held if isinstance(held, str) else _feature(held)}
