"""How networks are opened."""

from __future__ import annotations

from penstock.engines.ocr.scripts_network import IN_PACKAGE
from penstock.engines.weights.onnx import open_session


def test_products_of_eight_bits_are_exact_on_processors_without_vnni() -> None:
    """Without this Greek, Arabic, Devanagari and Thai lose letters there."""
    options = open_session(IN_PACKAGE).get_session_options()
    assert options.get_session_config_entry("session.x64quantprecision") == "1"
