"""A run put together with what it reads, and the way it is worked through to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

from penstock.driver import Run
from penstock.engines.chat.address import base_url
from penstock.engines.vllm import detached
from penstock.executors.base import Executor
from penstock.passes.listed_ahead import listed_ahead
from penstock.plan import Plan
from penstock.stage import ItemT, Stage
from penstock.store.atomic_files import replacing
from penstock.trace import report
from penstock.trace.bounds import Limits
from penstock.trace.cost import with_price
from penstock.trace.profile import Profile
from penstock.trace.watch import RunWatch

Showing = Callable[[Run[Any]], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSummary:
    """What a pass did, for people and programs. `failures` are the first few: (place, sentence)."""

    out: str
    done: int
    failed: int
    failed_parts: int
    skipped: int
    failed_before: int  # of the skipped
    seconds: float
    failures: tuple[tuple[str, str], ...]
    left_out: Mapping[str, int] = field(default_factory=dict)  # files of folders by their ending

    @property
    def all_well(self) -> bool:
        return self.failed == self.failed_parts == self.failed_before == 0


@dataclass
class PreparedRun(Generic[ItemT]):
    """One run and its listing. Iterate it once, or call `finish`.

    for page in parse_work(options):
        print(page.markdown)
    """

    run: Run[ItemT]
    listing: Iterator[ItemT]
    sample_of: Callable[[], int] | None = None  # counts all there is, for a run that reads a part of it
    ahead: bool = False  # the items are light, and `finish` lists them ahead to know how many there are
    on_end: Callable[[], object] = lambda: None  # when all is read, before it is counted

    def __iter__(self) -> Iterator[ItemT]:
        return self.run.items(self.listing)

    def finish(self, showing: Showing | None = None) -> Profile:
        """Runs to the end under a watch. The profile is in OUT if anything was done.

        `showing` draws progress while the block works.
        """
        run = self.run
        watching, shown = watch_of(run.plan, run.executor), (showing or _hidden)(run)
        with watching as watch, shown, self._listed() as listing:
            for _ in run.items(listing):
                pass
        self.on_end()
        profile = watch.add_to(run.profile())
        if run.price is not None and (cards := profile.hardware.gpus or ("cpu",)):
            profile = with_price(profile, run.an_hour / len(cards))
        if self.sample_of is not None:
            profile = replace(profile, whole=self.sample_of())
        if run.tally.done or run.tally.failed:
            write_profile(profile, run.own_folder)
        return profile

    def _listed(self) -> AbstractContextManager[Iterable[ItemT]]:
        tally = self.run.tally
        if not self.ahead:
            return nullcontext(self.listing)
        return listed_ahead(self.listing, tally.find, tally.find_no_more)

    def summary(self) -> WorkSummary:
        tally, trace = self.run.tally, self.run.executor.trace
        return WorkSummary(
            out=str(self.run.out),
            done=tally.done,
            failed=tally.failed,
            failed_parts=tally.failed_regions,
            skipped=tally.skipped,
            failed_before=tally.failed_before,
            seconds=round(trace.clock() - trace.began, 3),
            failures=(*tally.failures, *tally.failed_parts),
            left_out=dict(tally.left_out.most_common()),
        )


def write_profile(profile: Profile, folder: Path) -> None:
    """Writes profile.json and profile.html; a reader sees the old file or the new one, never half."""
    for name, text in report.files(profile).items():
        with replacing(folder / name, folder, sync=False) as file:
            file.write(text.encode("utf-8", "replace"))


def _hidden(run: Run[Any]) -> AbstractContextManager[None]:
    return nullcontext()


def watch_of(plan: Plan, executor: Executor) -> RunWatch:
    """Returns a watch over this machine's cards and the servers that are named in the plan.

    Those that a stage starts itself are announced when they are up.
    """
    servers = servers_of(plan)
    asking = [stage.name for stage in plan if stage.addresses]

    def at_work() -> list[str]:
        return [state.name for state in executor.depths() if state.running]

    return RunWatch(
        servers,
        limits=_limits() if servers else {},
        stage=asking[0] if asking else "",
        at_work=at_work,
    )


def servers_of(plan: Iterable[Stage]) -> list[str]:
    """Returns the addresses of the servers that stages ask, each once."""
    return list(dict.fromkeys(base_url(address) for stage in plan for address in stage.addresses))


def _limits() -> dict[str, Limits]:
    """Returns what the servers of `penstock engine` were started with; of others we do not know."""
    found = {server.url: Limits.of_command(server.command) for server in detached.servers() if server.alive}
    by_name = {url.replace("127.0.0.1", "localhost"): limits for url, limits in found.items()}
    return found | by_name
