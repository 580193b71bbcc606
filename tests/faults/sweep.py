"""`python -m tests.faults.sweep FOLDER`: makes each file call of a run go wrong in each way; runs again.

Prints a line of JSON a case. Runs with faulty_files.c loaded.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from penstock.errors import PenstockError
from tests.faults import armed, small_run

FAULTS = {
    "ENOSPC": errno.ENOSPC,
    "EIO": errno.EIO,
    "EINTR": errno.EINTR,
    "EACCES": errno.EACCES,
    "short write": armed.SHORT,
    "died": armed.DIE,
}
SAMPLED = {"EIO": 5, "EINTR": 5, "EACCES": 5}  # every fifth call: the same code answers as for ENOSPC
WELL, TOLD, RAISED = 0, 3, 4  # how a run ended: to its end, with a sentence, with a traceback


def in_child(work: Callable[[], None], log: Path) -> int:
    """Runs `work` in a process of its own: a fault may end it. Returns WELL, TOLD, RAISED or DIED."""
    child = os.fork()
    if child == 0:
        os._exit(_outcome(work, log))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _outcome(work: Callable[[], None], log: Path) -> int:
    try:
        work()
    except PenstockError as exc:
        log.write_text(str(exc))
        return TOLD
    except BaseException:
        log.write_text(traceback.format_exc())
        return RAISED
    return WELL


def case(folder: Path, fault: str, nth: int, expected: list[tuple[object, ...]]) -> dict[str, object]:
    out, log = folder / f"{fault}-{nth}" / "out", folder / f"{fault}-{nth}.txt"
    out.parent.mkdir()

    def broken() -> None:
        armed.arm(out, nth, FAULTS[fault])
        small_run.run(out)

    def again() -> None:
        small_run.run(out)
        found = small_run.rows(out)
        assert found == expected, f"{found} instead of {expected}"
        assert not list(out.glob("tmp/*")), "something is left in tmp"

    ended = in_child(broken, log)
    said = log.read_text() if log.exists() else ""
    mended = in_child(again, log)
    return {
        "fault": fault,
        "nth": nth,
        "ended": ended,
        "said": said,
        "mended": mended,
        "why": "" if mended == WELL else log.read_text(),
    }


def main(folder: Path) -> None:
    whole = folder / "whole" / "out"
    whole.parent.mkdir()
    armed.arm(whole)
    small_run.run(whole)
    calls = armed.seen()
    armed.arm(Path("/nowhere"))
    expected = small_run.rows(whole)
    for fault in FAULTS:
        for nth in range(1, calls + 1, SAMPLED.get(fault, 1)):
            print(json.dumps(case(folder, fault, nth, expected)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
