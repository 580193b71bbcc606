"""Runs a verb in a tree, in this process. An error with a sentence is an answer; a traceback is none."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import PenstockError
from penstock.serve.jobs.record import JobFiles
from penstock.serve.reading.upload_folder import UploadFolder
from tests.conftest import SAMPLE
from tests.strangers.trees import Tree

FAKE = "penstock.testing.fake_recipe:fake"
PARSE = (
    "parse",
    str(SAMPLE),
    "-o",
    "{out}",
    "--recipe",
    FAKE,
    "--executor",
    "inline",
    "--pages",
    "1-2",
    "-q",
)
EXPORTS = "md,md-joined,jsonl,docjson,content_list,html,chunks,glm,overlays"
QUICK = (
    PARSE,
    (*PARSE, "--fresh"),
    (*PARSE, "--trace"),
    (*PARSE, "--crop-names", "page"),
    ("export", "{out}", "--to", EXPORTS),
    ("check", "{out}", "--repair"),
    ("profile", "{out}"),
    ("serving",),
)
PATIENT = (
    ("embed", "{out}", "-q"),
    ("embed", "{out}", "-q", "--fresh"),
    ("index", "{out}"),
    ("index", "{out}", "--rebuild"),
    ("enrich", "{out}", "-q"),
    ("search", "{out}", "page"),
    ("extract", "{out}", "--schema", "{home}/schema.json", "-q"),
    ("eval", "office", "-o", "{out}", "--only-write", "--documents", "2"),
)
VOLUMES = ("volumes", "{home}/photo.png", "-o", "{out}", "--box", "40,60,200,180:chair", "-q", "--fresh")


def run_verb(words: tuple[str, ...], tree: Tree) -> None:
    """Raises AssertionError for an end that is neither an exit code nor one of our errors."""
    if words == ("serving",):
        with contextlib.suppress(PenstockError):
            _serve(tree.out)
        return
    filled = [word.format(out=tree.out, home=tree.home) for word in words]
    with contextlib.redirect_stdout(io.StringIO()):
        end = CliRunner().invoke(app, filled)
    if end.exception is not None and not isinstance(end.exception, (PenstockError, SystemExit)):
        raise AssertionError(f"{' '.join(words)}: {end.exception!r}") from end.exception


def _serve(out: Path) -> None:
    """Does what a service does to OUT's folders when it starts, receives, deletes and ends."""
    uploads = UploadFolder(out)
    uploads.remove_half_received()
    with uploads.incoming() as incoming:
        incoming.write_bytes(b"%PDF-1.4")
        place = uploads.place("report.pdf", "0" * 64, "")
        uploads.keep(incoming, place)
    document = place.relative_to(uploads.path).as_posix()
    assert place in uploads.files()
    uploads.note_deletion(document)
    uploads.remove(document)
    uploads.forget_deletions()
    files = JobFiles(out)
    files.delete_strays(set())
    files.tidy(wholly=True)
    files.close()
