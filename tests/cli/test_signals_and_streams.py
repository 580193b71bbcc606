"""A command as a process: signals that end it, and streams that are full, closed or gone."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock.testing import FAKE
from tests.conftest import REPO, SAMPLE
from tests.support.command import here, in_a_process
from tests.support.made_pdf import pdf


@pytest.mark.slow
def test_a_full_disk_is_a_sentence_and_leaves_a_resumable_out(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # its own file would not fit either
    monkeypatch.setenv(
        "PYTHONDONTWRITEBYTECODE", "1"
    )  # cut short, what Python compiles breaks later commands

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    out = tmp_path / "out"
    words = ["parse", good, "-o", out, "--recipe", FAKE, "--quiet"]
    shown = in_a_process(*words, preexec_fn=small_files)
    assert shown.returncode == 2
    assert "Cannot write" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert here(*words).returncode == 0
    assert len(list(penstock.read(out))) == 1


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "parse", "-", "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdin is not None
        waiting.stdin.write("\n" * 200_000)  # more than a pipe holds: it has begun to read when this returns
        waiting.stdin.flush()
        waiting.send_signal(signal.SIGINT)
        waiting.wait(timeout=300)  # with the pipe still open: its end would be an end of the list
        _, told = waiting.communicate(timeout=300)
    assert (waiting.returncode, told) == (
        130,
        "penstock: stopped. Run the same command again to go on from here.\n",
    )


HANGS_UP = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from penstock.cli import main
from penstock.store.ledger import ShardWriter
add = ShardWriter.add
def hung_up(self, item):
    os.kill(os.getpid(), signal.SIGHUP)
    return add(self, item)
ShardWriter.add = hung_up
main()
"""


TELLS_WHEN_ADDED = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests may run under nohup
from penstock.cli import main
from penstock.store.ledger import ShardWriter
add = ShardWriter.add
def told(self, item):
    added = add(self, item)
    print("added", flush=True)
    return added
ShardWriter.add = told
main()
"""


@pytest.mark.parametrize(
    ("sent", "rank"), [(signal.SIGTERM, []), (signal.SIGHUP, []), (signal.SIGTERM, ["--partition", "1/1"])]
)
def test_a_signal_keeps_what_is_finished_and_says_so(
    tmp_path: Path, sent: signal.Signals, rank: list[str]
) -> None:
    """The second page hangs; the first is read by then, and in no shard yet."""
    (tmp_path / "two.pdf").write_bytes(pdf(["", ""]))
    words = ["parse", str(tmp_path / "two.pdf"), "-o", str(tmp_path / "out"), *rank, "--recipe"]
    command = [
        sys.executable,
        "-c",
        TELLS_WHEN_ADDED,
        *words,
        "tests.support.hanging_recipe:hanging",
        "--quiet",
    ]
    with subprocess.Popen(
        command, stdout=-1, stderr=-1, text=True, cwd=REPO, start_new_session=True
    ) as working:
        assert working.stdout is not None
        assert working.stdout.readline() == "added\n"
        assert not list(tmp_path.glob("out/items/*"))
        working.send_signal(sent)
        _, told = working.communicate(timeout=300)
    said = "penstock: stopped by a signal. Run it again to go on from here.\n"
    assert (working.returncode, told) == (143, said)
    assert [(page.part, page.failure) for page in penstock.read(tmp_path / "out")] == [(0, None)]
    with pytest.raises(ProcessLookupError):  # the children have ended, too
        os.killpg(working.pid, 0)


def test_nohup_runs_on_when_the_terminal_closes(good: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HANGS_UP, "parse", str(good), "-o", str(tmp_path / "out")]
    done = subprocess.run([*command, "--recipe", FAKE, "--quiet"], timeout=300, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


FAST = f"--pages 1 --recipe {FAKE}"


def in_bash(words: str, good: Path, out: Path, after: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of a command and of what stands after it."""
    for name in "abc":
        (good / f"{name}.pdf").write_bytes(SAMPLE.read_bytes())
    call = words.format(good=good, out=out)
    command = f'set -o pipefail; "{sys.executable}" -m penstock {call} {after}'
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)


PAGES, FACTS = f"parse {{good}} {FAST}", f"parse {{good}} {FAST} -o {{out}} --json"


@pytest.mark.parametrize("words", ["--version", PAGES, FACTS])
def test_a_full_disk_behind_standard_output_is_a_sentence(good: Path, tmp_path: Path, words: str) -> None:
    shown = in_bash(words, good, tmp_path / "out", ">/dev/full")
    said = "penstock: Cannot use standard output: No space left on device.\n"
    assert (shown.returncode, shown.stderr) == (2, said)


@pytest.mark.parametrize("words", ["--version", PAGES])  # facts are printed at once, as a version is
def test_a_reader_that_goes_away_ends_a_command_without_a_word(
    good: Path, tmp_path: Path, words: str
) -> None:
    shown = in_bash(words, good, tmp_path / "out", "| true")
    assert (shown.returncode, shown.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["1>&-", "<&- 1>&- 2>&-"])
def test_closed_streams_keep_nobody_from_working(good: Path, tmp_path: Path, closed: str) -> None:
    command = f'"{sys.executable}" -m penstock parse "{good}" -o "{tmp_path}/out" --recipe {FAKE} {closed}'
    done = subprocess.run(["sh", "-c", command], timeout=300)
    assert done.returncode == 0
    assert [page.failure for page in penstock.read(tmp_path / "out")] == [None]
