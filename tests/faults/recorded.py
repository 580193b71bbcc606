"""`python -m tests.faults.recorded FOLDER RECORD`: records the file calls of a run into FOLDER/out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.faults import armed, small_run


def main(folder: Path, record: Path) -> None:
    descriptor = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    armed.arm(folder, record=descriptor)
    small_run.run(folder / "out", committed=armed.note)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
