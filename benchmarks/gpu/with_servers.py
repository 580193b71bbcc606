"""Starts a card's servers as their preset says, runs commands against them, and stops them.

    python benchmarks/gpu/with_servers.py zai-org/GLM-OCR --run "python benchmarks/gpu/pipeline_gpu.py" \
        --run "python benchmarks/gpu/one_page.py" [--flags="--load-format dummy"]

Each command gets `--server URL` for each server. The status is the first that is not zero.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu.server_settings import SETTINGS, running, vision_line


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--run", action="append", required=True, help="a command; give it again for another")
    parser.add_argument("--setting", default="base", choices=list(SETTINGS))
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--flags", default="", help="for every server, such as --load-format dummy")
    options = parser.parse_args()
    statuses = []
    with running(options.model, SETTINGS[options.setting], options.preset, options.flags) as servers:
        print(vision_line(servers[0]), flush=True)
        addresses = [f"--server={server.url}" for server in servers]
        for command in options.run:
            print(f"== {command}", flush=True)
            statuses.append(subprocess.run([*shlex.split(command), *addresses], check=False).returncode)
    return next((status for status in statuses if status), 0)


if __name__ == "__main__":
    sys.exit(main())
