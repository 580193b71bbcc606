"""Which servers a plan asks, for the watch over a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.stage import Stage
    from penstock.trace.bounds import Limits
    from penstock.trace.watch import RunWatch


def watch_of(plan: Iterable[Stage]) -> RunWatch:
    """A watch over this machine's cards and the servers that are named in the plan.

    Those that a stage starts itself are announced when they are up.
    """
    from penstock.trace.watch import RunWatch

    servers = servers_of(plan)
    asking = [stage.name for stage in plan if hasattr(stage, "servers")]
    return RunWatch(servers, limits=_limits() if servers else {}, stage=asking[0] if asking else "")


def servers_of(plan: Iterable[Stage]) -> list[str]:
    named = [address for stage in plan for address in getattr(stage, "servers", ())]
    if not named:
        return []
    from penstock.engines.chat.server import base_url

    return list(dict.fromkeys(base_url(address) for address in named))


def _limits() -> dict[str, Limits]:
    """What the servers of `penstock engine` were started with; of others we do not know."""
    from penstock.engines.vllm import daemon
    from penstock.trace.bounds import Limits

    found = {engine.url: Limits.of_command(engine.command) for engine in daemon.engines() if engine.alive}
    by_name = {url.replace("127.0.0.1", "localhost"): limits for url, limits in found.items()}
    return found | by_name
