"""What a process of our own may use: which GPU, how many threads its libraries may start, how much memory."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

NVIDIA_PROC = Path("/proc/driver/nvidia/gpus")
UUID_PREFIXES = ("GPU-", "MIG-")
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


def visible_gpus() -> list[str]:
    """Returns words for CUDA_VISIBLE_DEVICES, one a card: numbers, or the UUIDs of cards and MIG slices.

    Honours the variable if it is set. Does not import torch.
    """
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [part for part in _named() if part.isdigit() or part.upper().startswith(UUID_PREFIXES)]
    if not NVIDIA_PROC.is_dir():
        return []
    return [str(number) for number in range(len(list(NVIDIA_PROC.iterdir())))]


def named_gpus() -> set[int] | None:
    """Returns the numbers of the cards that CUDA_VISIBLE_DEVICES names. None: all of the machine.

    Empty means that we use none; a server of ours may all the same, so it hides nothing here. Nor does the
    name of a MIG slice, which is no card.
    """
    parts = _named()
    uuids = tuple(part.upper() for part in parts if part.upper().startswith("GPU-"))
    by_uuid = {number for number, uuid in _uuids() if uuid.startswith(uuids)} if uuids else set()
    return {int(part) for part in parts if part.isdigit()} | by_uuid or None


def _named() -> list[str]:
    return [part.strip() for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]


def _uuids() -> list[tuple[int, str]]:
    """Returns number and UUID of every card, as nvidia-smi lists them."""
    query = ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
    return [(int(row[0]), row[1].upper()) for row in rows if len(row) == 2 and row[0].isdigit()]


def cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine's."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [text.split() for text in _cgroup_values("cpu.max")]  # "150000 100000": one and a half
    shares = [int(most) / int(period) for most, period in quotas if most.isdigit()]
    return max(1, min([seen, *(math.ceil(share) for share in shares)]))


def machine_memory_mb() -> int:
    """The memory this process may use, which in a container is less than the machine's."""
    limits = [*_cgroup_values("memory.max"), _read(CGROUPS / "memory" / "memory.limit_in_bytes")]
    amounts = [int(text) for text in limits if text.isdigit()]
    if "SC_PHYS_PAGES" in os.sysconf_names:
        amounts.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(amounts, default=0) >> 20


def _cgroup_values(name: str) -> list[str]:
    """Returns what the control groups of this process say (version 2), from its own up to the root."""
    lines = _read(OWN_CGROUP).splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    home = CGROUPS / own.lstrip("/")
    folders = [home, *(folder for folder in home.parents if folder.is_relative_to(CGROUPS))]
    return [text for folder in folders if (text := _read(folder / name))]


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except OSError:
        return ""


def environment(threads: int, gpu: str | None) -> dict[str, str]:
    """Returns the variables of a worker's process: its GPUs, and threads for its native libraries.

    Each worker has a process; libraries that each take all cores would slow one another.
    """
    env = dict.fromkeys(THREAD_VARIABLES, str(max(1, threads)))
    if gpu is not None:
        env["CUDA_VISIBLE_DEVICES"] = gpu
        env["SPCONV_TUNE_DEVICE"] = "0"  # the only one it sees
        env["SPCONV_ALGO_TIME_LIMIT"] = "100"  # ms: it would tune for minutes
    return env
