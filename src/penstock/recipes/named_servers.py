"""Refuses options of a server that Penstock starts where it starts none."""

from __future__ import annotations

from penstock.errors import UsageError


def refuse_with_servers(servers: tuple[str, ...], engine: str = "vllm", **given: object) -> None:
    """Raises UsageError for an option that has no effect; "auto" and None were not given."""
    if engine == "hf" and servers:
        raise UsageError("--server has no effect with --engine hf, which has no server.", "Leave one out.")
    why = "--engine hf starts none" if engine == "hf" else "--server names one that is running"
    for name, value in given.items():
        if value not in ("auto", None) and (servers or engine == "hf"):
            raise UsageError(
                f"--{name.replace('_', '-')} is for a server that Penstock starts, and {why}.",
                "Leave one of them out.",
            )
