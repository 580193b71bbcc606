"""Reads how busy the graphics cards of this machine are.

Uses NVML if its Python package is installed, else `nvidia-smi`, else reads nothing. Load is the share of
time in which some kernel ran, as the driver counts it; it does not say how full the card's units were.
Bandwidth is the share of time in which the card's memory was read or written, by the same counting.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.processes.resources import named_gpus
from penstock.trace.profile import CardProfile, GpuProfile, GpuTimeline, PhaseProfile
from penstock.trace.timeline import Gauge, Shares, Timeline

SMI_TIMEOUT_S = 5.0  # it answers in some 50 ms; with a card that fell off the bus it hangs
MISSES = 3  # in a row; then the driver is gone and we stop asking
SMI_FIELDS = "index,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw"
MB = 2**20


@dataclass(frozen=True, slots=True)
class CardReading:
    """One card now. None: the driver does not report it. Energy counts from some moment in the past."""

    index: int
    name: str
    load: float | None = None
    bandwidth: float | None = None
    memory_mb: float | None = None
    memory_total_mb: float | None = None
    power_w: float | None = None
    energy_j: float | None = None


def open_driver() -> GpuDriver | None:
    """NVML, else nvidia-smi, else None."""
    return _Nvml.open() or _Smi.open()


@dataclass
class _CardSums:
    last: CardReading
    since_j: float | None
    last_at: float
    load: Gauge = field(default_factory=Gauge)
    loads: Shares = field(default_factory=Shares)
    bandwidth: Gauge = field(default_factory=Gauge)
    memory: Gauge = field(default_factory=Gauge)
    power: Gauge = field(default_factory=Gauge)
    joules: float = 0.0  # power times time, for cards that do not count their energy

    def add(self, reading: CardReading, at: float) -> None:
        pairs: tuple[tuple[Gauge | Shares, float | None], ...] = (
            (self.load, reading.load),
            (self.loads, reading.load),
            (self.bandwidth, reading.bandwidth),
            (self.memory, reading.memory_mb),
            (self.power, reading.power_w),
        )
        for gauge, value in pairs:
            if value is not None:
                gauge.add(value)
        if reading.power_w is not None and self.last.power_w is not None:
            self.joules += (reading.power_w + self.last.power_w) / 2 * (at - self.last_at)
        self.last, self.last_at = reading, at

    @property
    def energy_wh(self) -> float | None:
        if self.since_j is not None and self.last.energy_j is not None:
            return (self.last.energy_j - self.since_j) / 3600
        return self.joules / 3600 if self.power.count > 1 else None

    def summary(self) -> CardProfile:
        memory = self.memory.summary()
        return CardProfile(
            index=self.last.index,
            name=self.last.name,
            load=self.load.summary(),
            load_p50=self.loads.median(),
            bandwidth=self.bandwidth.summary(),
            memory_mean_mb=memory.mean if memory else None,
            memory_peak_mb=memory.peak if memory else None,
            memory_total_mb=self.last.memory_total_mb,
            power_w=self.power.summary(),
            energy_wh=self.energy_wh,
        )


@dataclass
class _PhaseSums:
    samples: int = 0
    load: Gauge = field(default_factory=Gauge)
    bandwidth: Gauge = field(default_factory=Gauge)
    memory: Gauge = field(default_factory=Gauge)

    def add(self, readings: Sequence[CardReading]) -> None:
        self.samples += 1
        for gauge, values in (
            (self.load, [one.load for one in readings]),
            (self.bandwidth, [one.bandwidth for one in readings]),
            (self.memory, [one.memory_mb for one in readings]),
        ):
            if known := [value for value in values if value is not None]:
                gauge.add(sum(known) / len(known))

    def summary(self, name: str) -> PhaseProfile:
        return PhaseProfile(
            name, self.samples, self.load.summary(), self.bandwidth.summary(), self.memory.summary()
        )


class GpuSampler:
    """Reads the cards on each call. One thread uses it; `summary` is for after that thread's end.

    `at_work` names the stages that work now, for the figures by phase; None: the run has no phases.
    """

    def __init__(self, timeline: Timeline, at_work: Callable[[], Sequence[str]] | None = None) -> None:
        self._timeline = timeline
        self._at_work = at_work
        self._phases: dict[str, _PhaseSums] = {}
        self._cards: dict[int, _CardSums] = {}
        self._driver = open_driver()
        self._source = self._driver.name if self._driver else ""
        self._missed = 0

    @property
    def alive(self) -> bool:
        return self._driver is not None and self._missed < MISSES

    def look(self, at: float) -> None:
        readings = self._driver.read() if self._driver is not None else None
        self._missed = 0 if readings else self._missed + 1
        for reading in readings or ():
            card = self._cards.setdefault(reading.index, _CardSums(reading, reading.energy_j, at))
            card.add(reading, at)
            if reading.load is not None:
                self._timeline.add(at, {f"gpu/{reading.index}": reading.load})
        if readings and self._at_work is not None:
            for name in self._at_work() or ("",):
                self._phases.setdefault(name, _PhaseSums()).add(readings)

    def close(self) -> None:
        if self._driver is not None:
            self._driver.close()
            self._driver = None

    def summary(self) -> GpuProfile | None:
        """None when there is no card."""
        if not self._cards:
            return None
        cards = tuple(self._cards[index].summary() for index in sorted(self._cards))
        energy = [card.energy_wh for card in cards if card.energy_wh is not None]
        loads = tuple(self._timeline.means(f"gpu/{card.index}") for card in cards)
        return GpuProfile(
            source=self._source,
            cards=cards,
            energy_wh=sum(energy) if energy else None,
            timeline=GpuTimeline(self._timeline.bin_s, loads),
            phases=tuple(sums.summary(name) for name, sums in self._phases.items()),
        )


class _Nvml:
    """Reads by NVIDIA's own library."""

    name = "NVML"

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        allowed = named_gpus()
        count = range(nvml.nvmlDeviceGetCount())
        indexes = [index for index in count if allowed is None or index in allowed]
        self._handles = {index: nvml.nvmlDeviceGetHandleByIndex(index) for index in indexes}

    @classmethod
    def open(cls) -> _Nvml | None:
        try:
            import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            return None
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:  # no driver on this machine
            return None
        try:
            return cls(pynvml)
        except pynvml.NVMLError:
            pynvml.nvmlShutdown()
            return None

    def read(self) -> list[CardReading] | None:
        """Reads every card we may use."""
        return [self._reading(index, handle) for index, handle in self._handles.items()]

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def _reading(self, index: int, handle: Any) -> CardReading:
        name = self._ask("nvmlDeviceGetName", handle) or "GPU"
        use = self._ask("nvmlDeviceGetUtilizationRates", handle)
        memory = self._ask("nvmlDeviceGetMemoryInfo", handle)
        power_mw = self._ask("nvmlDeviceGetPowerUsage", handle)
        energy_mj = self._ask("nvmlDeviceGetTotalEnergyConsumption", handle)
        return CardReading(
            index,
            name.decode() if isinstance(name, bytes) else str(name),
            load=None if use is None else use.gpu / 100,
            bandwidth=None if use is None else use.memory / 100,
            memory_mb=None if memory is None else memory.used / MB,
            memory_total_mb=None if memory is None else memory.total / MB,
            power_w=None if power_mw is None else power_mw / 1000,
            energy_j=None if energy_mj is None else energy_mj / 1000,
        )

    def _ask(self, question: str, handle: Any) -> Any:
        try:
            return getattr(self._nvml, question)(handle)
        except self._nvml.NVMLError:  # cards differ in what they report
            return None


class _Smi:
    """Reads by calling a program each time."""

    name = "nvidia-smi"

    def __init__(self, tool: str) -> None:
        self._command = [tool, f"--query-gpu={SMI_FIELDS}", "--format=csv,noheader,nounits"]
        self._allowed = named_gpus()

    @classmethod
    def open(cls) -> _Smi | None:
        tool = shutil.which("nvidia-smi")
        return None if tool is None else cls(tool)

    def read(self) -> list[CardReading] | None:
        """Reads every card we may use; None if the driver did not answer."""
        try:
            done = subprocess.run(
                self._command, capture_output=True, text=True, timeout=SMI_TIMEOUT_S, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0:
            return None
        readings = [reading for line in done.stdout.splitlines() if (reading := _smi_reading(line))]
        return [one for one in readings if self._allowed is None or one.index in self._allowed]

    def close(self) -> None:
        """Holds nothing between two reads."""


def _smi_reading(line: str) -> CardReading | None:
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) < 7 or not cells[0].isdigit():
        return None
    name = ", ".join(cells[1:-5])  # a name may hold a comma
    load, bandwidth, used, total, power = (_number(cell) for cell in cells[-5:])
    return CardReading(int(cells[0]), name, _share(load), _share(bandwidth), used, total, power)


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:  # "[N/A]", "[Not Supported]"
        return None


GpuDriver = _Nvml | _Smi
