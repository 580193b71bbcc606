"""What a run's profile holds. `Profile.to_dict()` is profile.json; `Profile.from_dict()` reads it again.

Profiles of earlier versions stay readable: a missing key takes its default, an unknown key is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from penstock.redaction import SafeRepr

VERSION = 1
OMIT_IF_NONE = {"omit_if_none": True}  # the key is left out of profile.json; other None become null

Curve = tuple[float | None, ...]  # one mean for each bin of a timeline, None where nothing was sampled
Bin = tuple[float, float, float]  # seconds run, starved and blocked


@dataclass(frozen=True, slots=True)
class MeanAndPeak:
    mean: float
    peak: float


@dataclass(frozen=True, slots=True)
class HardwareFacts:
    """The machine of the driver, or all machines of a cluster that worked."""

    system: str = ""
    cpu: str = ""
    cores: int = 1
    memory_gib: float = 0.0
    gpus: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> HardwareFacts:
        return cls(**{**facts, "gpus": tuple(facts["gpus"])})

    @classmethod
    def together(cls, machines: Sequence[HardwareFacts]) -> HardwareFacts:
        """Returns several machines as if they were one: what they have is added up."""
        first = machines[0]
        return cls(
            first.system,
            f"{len(machines)} x {first.cpu}" if len(machines) > 1 else first.cpu,
            sum(machine.cores for machine in machines),
            sum(machine.memory_gib for machine in machines),
            tuple(card for machine in machines for card in machine.gpus),
        )


@dataclass(frozen=True, slots=True)
class StageProfile:
    """One stage over the whole run. `busy`, `starved` and `blocked` are shares and add up to 1."""

    name: str
    workers: int = 1
    overlap: int = 1
    process: bool = False
    items: int = 0
    calls: int = 0
    failed: int = 0
    restarts: int = 0
    open_s: float = 0.0  # summed over its workers
    busy: float = 0.0
    starved: float = 0.0
    blocked: float = 0.0
    busy_s: float = 0.0
    items_per_s: float = 0.0
    capacity_per_s: float = 0.0  # items a second if it were busy all the time; 0 if it did nothing
    batch_fill: float = 0.0
    p50_ms: float = 0.0
    p95_ms: float = 0.0

    @property
    def shares(self) -> dict[str, float]:
        return {"busy": self.busy, "starved": self.starved, "blocked": self.blocked}


@dataclass(frozen=True, slots=True)
class StageTimeline:
    bin_s: float = 1.0
    stages: Mapping[str, tuple[Bin, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CardProfile:
    """One graphics card. None: the driver does not report the quantity.

    `load` is the share of time in which a kernel ran, `bandwidth` that in which its memory was used.
    """

    index: int
    name: str = "GPU"
    load: MeanAndPeak | None = None
    load_p50: float | None = None
    bandwidth: MeanAndPeak | None = None
    memory_mean_mb: float | None = None
    memory_peak_mb: float | None = None
    memory_total_mb: float | None = None
    power_w: MeanAndPeak | None = None
    energy_wh: float | None = None


@dataclass(frozen=True, slots=True)
class PhaseProfile:
    """The cards while one stage was at work. Stages work side by side: a moment may count for several.

    Of several cards these are the means over the cards.
    """

    name: str  # the stage; empty while none was at work, as when models are opened
    samples: int = 0
    load: MeanAndPeak | None = None
    bandwidth: MeanAndPeak | None = None
    memory_mb: MeanAndPeak | None = None


@dataclass(frozen=True, slots=True)
class GpuTimeline:
    bin_s: float = 1.0
    load: tuple[Curve, ...] = ()  # one for each card


@dataclass(frozen=True, slots=True)
class GpuProfile:
    """All cards of this machine."""

    source: str = ""
    cards: tuple[CardProfile, ...] = ()
    energy_wh: float | None = None
    timeline: GpuTimeline = GpuTimeline()
    phases: tuple[PhaseProfile, ...] = ()

    @property
    def mean_loads(self) -> list[float]:
        """Of the cards that report their load."""
        return [card.load.mean for card in self.cards if card.load]


@dataclass(frozen=True, slots=True)
class ServerProfile(SafeRepr):
    """One model server. Means are over the samples in which it had work; counters cover the run."""

    url: str
    samples: int = 0
    missed: int = 0
    running: MeanAndPeak | None = None
    waiting: MeanAndPeak | None = None
    kv: MeanAndPeak | None = None
    kv_tokens: int | None = None
    prefix_hit_share: float | None = None
    mm_hit_share: float | None = None
    mean_step_tokens: float | None = None
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generation_tokens: int = 0
    preemptions: int = 0
    busy_s: float = 0.0  # time in which it had work
    prompt_tokens_per_s: float | None = None  # of that time
    generation_tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServersTimeline:
    """`running` and `waiting` are sums over all servers, `kv` is one curve for each."""

    bin_s: float = 1.0
    running: Curve = ()
    waiting: Curve = ()
    kv: tuple[Curve, ...] = ()


@dataclass(frozen=True, slots=True)
class ServersProfile:
    """All model servers of the run."""

    each: tuple[ServerProfile, ...] = ()
    timeline: ServersTimeline = ServersTimeline()


@dataclass(frozen=True, slots=True)
class RequestsProfile:
    """The requests as our own client saw them: from when one was first sent until its answer was whole."""

    answered: int = 0
    failed: int = 0
    retries: int = 0
    seconds: float = 0.0  # from the first sent to the last answered
    mean_s: float = 0.0
    p50_s: float = 0.0
    p95_s: float = 0.0
    p99_s: float = 0.0
    slowest_s: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_per_s: float | None = None
    completion_tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServerBounds:
    """What limits the requests that run at once; `bounds.bounds` explains the names in `each`."""

    each: Mapping[str, int] = field(default_factory=dict)
    smallest: str | None = None
    running: float = 0.0
    waiting: float = 0.0
    mean_sequence_tokens: float | None = None
    mean_prefill_tokens: float | None = None
    sentence: str = ""
    stage: str = ""  # the stage that uses the servers


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one item takes and what a million would. None: not known."""

    hours_per_million: float
    cards: int = 0
    unit: str = "page"
    regions_per_page: float | None = field(default=None, metadata=OMIT_IF_NONE)
    prompt_tokens_per_page: float | None = field(default=None, metadata=OMIT_IF_NONE)
    generation_tokens_per_page: float | None = field(default=None, metadata=OMIT_IF_NONE)
    energy_kwh_per_million: float | None = field(default=None, metadata=OMIT_IF_NONE)
    price: float | None = field(default=None, metadata=OMIT_IF_NONE)  # of an hour
    price_per_million: float | None = field(default=None, metadata=OMIT_IF_NONE)
    spent: float | None = field(default=None, metadata=OMIT_IF_NONE)  # by this run


@dataclass(frozen=True, slots=True)
class RankProfile:
    """What one of several ranks did, in the profile of all."""

    name: str  # "3-of-8"
    items: int = 0
    failed: int = 0
    seconds: float = 0.0
    items_per_s: float = 0.0
    cards: int = 0
    bottleneck: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a run went. `unit` is what one item is called: "page", "photo", "block"."""

    version: int = VERSION
    started: str = ""
    items: int = 0
    failed: int = 0
    skipped: int = 0
    whole: int = 0  # items of the set that the run was a sample of; 0: it is not known
    regions: int = 0
    readers: Mapping[str, int] = field(default_factory=dict)  # pages by the reader that was chosen for each
    unit: str = "page"
    executor: str = ""
    command: str = ""
    hardware: HardwareFacts = HardwareFacts()
    peak_rss_mb: float = 0.0
    cpu_s: float | None = None  # None: the run was on other machines
    seconds: float = 0.0
    stages: tuple[StageProfile, ...] = ()
    timeline: StageTimeline = StageTimeline()
    bottleneck: str = ""
    gpu: GpuProfile | None = field(default=None, metadata=OMIT_IF_NONE)
    servers: ServersProfile | None = field(default=None, metadata=OMIT_IF_NONE)
    requests: RequestsProfile | None = field(default=None, metadata=OMIT_IF_NONE)
    bounds: ServerBounds | None = field(default=None, metadata=OMIT_IF_NONE)
    cost: RunCost | None = field(default=None, metadata=OMIT_IF_NONE)
    ranks: tuple[RankProfile, ...] | None = field(default=None, metadata=OMIT_IF_NONE)  # longest first

    @property
    def finished(self) -> int:
        """Items of this run, whether they went well or failed."""
        return self.items + self.failed

    @property
    def items_per_s(self) -> float:
        """Over the whole run, the opening of its models included."""
        return self.finished / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON writes it."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @classmethod
    def from_dict(cls, data: object) -> Profile:
        """Raises ValueError with the first thing that is wrong."""
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise ValueError(f"it is not a version {VERSION} profile")
        from pydantic import TypeAdapter, ValidationError  # heavy, and only readers of a file need it

        try:
            return TypeAdapter(cls).validate_python(data)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"{where}: {first['msg']}") from exc


def narrowest(stages: Sequence[StageProfile]) -> str:
    """Returns the name of the stage that could do least; "" if none did anything."""
    working = [stage for stage in stages if stage.capacity_per_s > 0]
    return min(working, key=lambda stage: stage.capacity_per_s).name if working else ""


def _plain(value: object) -> Any:
    if is_dataclass(value):
        pairs = ((each, getattr(value, each.name)) for each in fields(value))
        return {
            each.name: _plain(found)
            for each, found in pairs
            if found is not None or "omit_if_none" not in each.metadata
        }
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value
