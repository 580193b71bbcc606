"""Reading the pages of a long document takes the memory of a short one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import made_pdf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MAX_RATIO = 1.15
READ = """
import resource, sys
import penstock
with penstock.convert(sys.argv[1], layout="rules", text_layer="always", crops=False) as doc:
    numbers = [page.number for page in doc.pages]
    assert numbers == list(range(1, int(sys.argv[2]) + 1)), numbers
    for page in doc.pages:
        assert page.failure is None and "Paragraph 7" in page.markdown
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kb(folder: Path, count: int) -> int:
    """Of this library's own process: children hold one page each."""
    lines = [
        made_pdf.text(f"Paragraph {n} of a page with words enough to count", y=760 - 40 * n)
        for n in range(18)
    ]
    path = folder / f"{count}.pdf"
    path.write_bytes(made_pdf.pdf(["\n".join(lines)] * count, "/MediaBox [0 0 595 842]"))
    command = [sys.executable, "-c", READ, str(path), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return int(done.stdout)


def test_a_thousand_pages_take_the_memory_of_a_hundred(tmp_path: Path) -> None:
    few, many = peak_kb(tmp_path, 100), peak_kb(tmp_path, 1000)
    print(f"100 pages: {few / 1024:.0f} MB, 1,000 pages: {many / 1024:.0f} MB")
    assert many <= MAX_RATIO * few
