"""Checkpoints of the formula tools, in parts small enough to travel. Not in `reused`, for they need torch."""

from __future__ import annotations

import importlib

import reused

assert reused.HEIGHT  # it tells Python where the formula recogniser's tools are
checkpoint = importlib.import_module("checkpoint")
