"""The verbs that write, each as a command over a small OUT, and what readers find there afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from penstock.documents.docjson import model
from penstock.store.out import Out
from tests.support.hub_server import Hub

FAKE = "penstock.testing.fake_recipe:fake"
REPO = "me/pages"
Found = dict[str, str]  # what is compared: names with hashes of their contents


@dataclass(frozen=True)
class Verb:
    """A command to kill. `needs` come before it; `{out}`, `{pages}` and so on are filled in."""

    name: str
    command: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...] = ()
    found: Callable[[Path], Found] = field(default=lambda out: files(out))
    env: dict[str, str] = field(default_factory=dict)
    module: str = "penstock"


PARSE = ("parse", "{pages}", "-o", "{out}", "--recipe", FAKE, "--export", "md,jsonl", "-q")
EMBED = ("embed", "{out}", "-q")
SCHEMA = str(Path(model.__file__).with_name("docjson.schema.json"))  # one with references and many fields
EXPORTS = "md,md-joined,jsonl,docjson,docling,content_list,html,chunks,searchable-pdf,overlays"


def verbs(hub: Hub) -> list[Verb]:
    hub_env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_test", "HF_HUB_DISABLE_XET": "1"}
    return [
        Verb("parse", PARSE),
        Verb("export", ("export", "{out}", "--to", EXPORTS), (PARSE,)),
        Verb("embed", EMBED, (PARSE,), vectors),
        Verb("index", ("index", "{out}"), (PARSE, EMBED), hits),
        Verb("enrich", ("enrich", "{out}", "-q"), (PARSE,), summaries),
        Verb("extract", ("extract", "{out}", "--schema", SCHEMA, "-q"), (PARSE,), extracted),
        Verb(
            "volumes",
            ("volumes", "{photos}", "-o", "{out}", "--box", "40,60,200,180:chair", "-q"),
            found=photos,
        ),
        Verb("upload", ("upload", "{out}", "--repo", REPO), (PARSE,), lambda _: uploaded(hub), hub_env),
        Verb(
            "run",
            ("run", "pages", "{sample}", "--output-dir", "{out}", "--recipe", "builtin", "-q"),
            found=both,
        ),
        Verb("serve", ("{out}", "{pages}"), found=served, module="tests.kills.serving"),
    ]


def started(
    words: tuple[str, ...], places: dict[str, Path], env: dict[str, str], module: str = "penstock"
) -> subprocess.Popen[bytes]:
    named = {name: str(path) for name, path in places.items()}
    return subprocess.Popen(
        [sys.executable, "-m", module, *(word.format_map(named) for word in words)],
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finished(
    words: tuple[str, ...], places: dict[str, Path], env: dict[str, str], module: str = "penstock"
) -> None:
    process = started(words, places, env, module)
    _, said = process.communicate(timeout=300)
    if process.returncode != 0:
        raise RuntimeError(
            f"{module} {' '.join(words)} ended with {process.returncode}: {said.decode()[-600:]}"
        )


def files(out: Path) -> Found:
    """What exports wrote, byte by byte, and the pages of the ledger."""
    written = [
        path for path in sorted(out.rglob("*")) if path.is_file() and _is_result(path.relative_to(out))
    ]
    found = {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in written}
    return found | {
        page.id: f"{page.attempt} {page.markdown} {page.failure}" for page in Out(out).read_pages()
    }


def _is_result(path: Path) -> bool:
    """Leaves out what holds times or process numbers, and shards: the same rows, grouped otherwise."""
    top = path.parts[0]
    timed = {
        ".penstock",
        "run.json",
        "profile.json",
        "profile.html",
        "trace.jsonl",
        "items",
        "failures",
        "embed",
    }
    return top not in timed | {"index", "enrich", "uploads", "report.html"}


def vectors(out: Path) -> Found:
    arrays = {path.name: np.load(path) for path in sorted((out / "embeddings").glob("*.npy"))}
    lines = {path.name: path.read_text() for path in sorted((out / "embeddings").glob("*.json*"))}
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()} | lines


def hits(out: Path) -> Found:
    command = [sys.executable, "-m", "penstock", "search", str(out), "a", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: Any = json.loads(done.stdout)
    rows = found["hits"] if isinstance(found, dict) else found
    return {"hits": json.dumps([{key: row[key] for key in sorted(row) if key != "seconds"} for row in rows])}


def summaries(out: Path) -> Found:
    command = [sys.executable, "-m", "penstock", "export", str(out), "--to", "docjson"]
    subprocess.run(command, capture_output=True, check=True, timeout=300)
    return files(out)


def extracted(out: Path) -> Found:
    lines = (out / "extracted" / "docjson.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line)["document"]: line for line in lines} | {"lines": str(len(lines))}


def photos(out: Path) -> Found:
    wanted = ("objects.jsonl", "masks", "clouds")
    return {name: digest for name, digest in files(out).items() if name.startswith(wanted)}


def both(out: Path) -> Found:
    return files(out) | vectors(out)


def served(out: Path) -> Found:
    """Pages and what was sent. Jobs are named by chance; `tests/serve/jobs/test_jobs.py` kills those."""
    sent = (path for path in sorted((out / "uploads").rglob("*")) if path.is_file())
    uploads = {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sent}
    return uploads | {
        page.id: f"{page.attempt} {page.markdown} {page.failure}" for page in Out(out).read_pages()
    }


def uploaded(hub: Hub) -> Found:
    timed = ("README.md", "run.json", "profile", "trace", "items/", "failures/")
    rows = hub.repos.get(REPO, {})
    return {
        name: hashlib.sha256(data).hexdigest() for name, data in rows.items() if not name.startswith(timed)
    }
