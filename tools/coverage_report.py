"""Prints coverage by folder and fails if a module of the package is never loaded.

coverage combine && python tools/coverage_report.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SOURCES = (REPO / "src" / "penstock", REPO / "packages" / "penstock-eval" / "src" / "penstock_eval")
# torch is not in the environment of the fast tests: `make test-vllm` runs tests/with_torch, which load these
NEED_TORCH = (
    "engines/layout/doclayout*.py",
    "engines/layout/torch_import.py",
    "engines/segment/common.py",
    "engines/segment/grounded.py",
    "engines/segment/rfdetr.py",
    "engines/segment/yoloe.py",
    "workers/doclayout.py",
)


def covered(files: dict[str, dict[str, dict[str, int]]]) -> dict[str, tuple[int, int]]:
    """Covered lines and all lines of each module, by its path in the repository."""
    below = {str(Path(name).resolve()): facts["summary"] for name, facts in files.items()}
    found = {}
    for path in sorted(path for source in SOURCES for path in source.rglob("*.py")):
        facts = below.get(str(path), {"covered_lines": 0, "num_statements": 1})
        found[str(path.relative_to(REPO))] = (facts["covered_lines"], facts["num_statements"])
    return found


def main() -> int:
    told = subprocess.run(
        [sys.executable, "-m", "coverage", "json", "-q", "-o", "/dev/stdout"],
        cwd=REPO,
        check=True,
        capture_output=True,
        text=True,
    )
    modules = covered(json.loads(told.stdout)["files"])
    folders: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, (hit, lines) in modules.items():
        for folder in (str(Path(name).parent), "all"):
            folders[folder][0] += hit
            folders[folder][1] += lines
    for folder, (hit, lines) in sorted(folders.items()):
        print(f"{folder:30} {100 * hit / max(1, lines):5.1f} % of {lines:,} lines")
    unseen = [name for name, (hit, lines) in modules.items() if lines and not hit and not _needs_torch(name)]
    for name in unseen:
        print(f"no test loads {name}", file=sys.stderr)
    return 1 if unseen else 0


def _needs_torch(name: str) -> bool:
    return any(Path(name).match(pattern) for pattern in NEED_TORCH)


if __name__ == "__main__":
    sys.exit(main())
