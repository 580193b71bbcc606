"""Names that were seen are known again, whatever they are made of."""

from __future__ import annotations

from penstock.sources.names.seen import SeenNames


def test_a_name_is_seen_once_it_is_added() -> None:
    seen = SeenNames()
    names = ["a.pdf", "b/a.pdf", "", "보고서.pdf", "broken\udc80.pdf", "half\ud800.pdf"]
    for name in names:
        assert name not in seen
        seen.add(name)
        seen.add(name)
        assert name in seen
    assert "c.pdf" not in seen
