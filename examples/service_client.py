"""Sends documents to a running `penstock serve` and prints their Markdown as they are read.

penstock serve out --recipe documents &
python examples/service_client.py report.pdf scan.png
"""

from __future__ import annotations

import os
import sys

import penstock

SERVICE = os.environ.get("SERVICE", "http://127.0.0.1:8080")


def main() -> None:
    client = penstock.Client(SERVICE, key=os.environ.get("SERVICE_KEY"))
    jobs = [client.submit(name) for name in sys.argv[1:]]
    for job in jobs:
        client.wait(job.id)
        print(client.result(job.id, "markdown").decode())


if __name__ == "__main__":
    main()
