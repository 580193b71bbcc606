"""run.json: everything needed to repeat a run, and the guard against mixing two plans in one OUT."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from penstock import __version__
from penstock.errors import PlanMismatch, StoreError, UsageError, first_line
from penstock.plan import Plan, differences, fingerprint_of
from penstock.processes.hardware import hardware
from penstock.redaction import redacted, without_logins
from penstock.store.atomic_files import replacing, store_errors
from penstock.store.contents import CORRECTIONS, FOLDERS, OURS
from penstock.store.ledger import has_rows
from penstock.store.lock import joining
from penstock.store.ownership import MARK, is_marked, is_ours, refuse_links, remove_all
from penstock.store.remote import mirror_of
from penstock.store.shards import FORMAT, format_problem

RUN = "run.json"
SHOWN = 8  # names in an error
DOWNLOADS = "downloads"  # sources, not results: the listing decides what is fetched anew
PACKAGES = ("numpy", "opencv-python-headless", "pypdfium2", "onnxruntime", "pyarrow", "pillow")


class OtherFormat(UsageError):
    """OUT was written by a version of Penstock that this one does not read."""


def read(out: Path) -> dict[str, Any] | None:
    path = out / RUN
    if not path.is_file():
        return None
    repair = "Run: penstock check OUT --repair, or use --fresh to start over."
    advice = repair if is_ours(out, path) else "Penstock did not write it. Choose another OUT."
    try:
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as exc:
        raise UsageError(f"{path} is not a run's description ({first_line(exc)}).", advice) from exc
    if not isinstance(manifest, dict) or not _is_plan(manifest.get("plan")):
        raise UsageError(f"{path} is not a run's description: it names no plan.", advice)
    if problem := format_problem(path, manifest.get("format")):
        raise OtherFormat(problem, "Read the inputs again into another OUT, or use the version of then.")
    return manifest


def spent(out: Path) -> float:
    """Returns what the runs into OUT have cost by now, by their own account."""
    try:
        return float((read(out) or {}).get("cost", {}).get("so_far", 0.0))
    except (AttributeError, TypeError, ValueError):
        return 0.0


def _is_plan(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) and "stage" in row for row in value)


def check(out: Path, plan: Plan) -> None:
    """Raises PlanMismatch, naming what differs, when OUT holds rows that another plan made."""
    manifest = read(out)
    if manifest is None or not has_rows(out):
        return
    settings = plan.completed(manifest["plan"])
    if fingerprint_of(settings) == plan.fingerprint():
        return
    raise _mismatch(out, plan, settings)


def _mismatch(out: Path, plan: Plan, settings: list[dict[str, Any]]) -> PlanMismatch:
    lines = "\n".join(f"  {line}" for line in differences(settings, plan.settings()))
    return PlanMismatch(
        f"{out} holds the results of another plan:\n{lines}\n",
        "Use the same options, another OUT, or --fresh to start over.",
    )


def join(out: Path, plan: Plan, **facts: Any) -> None:
    """Writes run.json for the first of several ranks; the others check theirs against it.

    Raises PlanMismatch if another plan was begun in OUT.
    """
    with joining(out):
        begun = read(out)
        if begun is None:
            write(out, plan, **facts)
            mirror = mirror_of(out)
            begun = read(out) if mirror and not mirror.begin(RUN) else None
        if begun is None:
            return
        settings = plan.completed(begun["plan"])
        if fingerprint_of(settings) != plan.fingerprint():
            raise _mismatch(out, plan, settings)


def write(out: Path, plan: Plan, **facts: Any) -> None:
    manifest = {
        "format": FORMAT,
        "recipe": plan.name,
        "fingerprint": plan.fingerprint(),
        "plan": plan.settings(),
        "versions": versions(),
        "hardware": hardware(),
        **facts,
    }
    with replacing(out / RUN, out) as file:
        file.write(without_logins(json.dumps(manifest, ensure_ascii=False, indent=2)).encode())


def refuse_others(out: Path, fresh: bool) -> None:
    """Raises an error before a run begins if it would write, or delete, what somebody else made."""
    there = sorted(path.name for path in out.iterdir() if path.name != MARK) if out.is_dir() else []
    others = [name for name in there if name != DOWNLOADS]  # a listing fills it before a run, or without one
    if fresh and others and not is_marked(out):
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        raise UsageError(
            f"{out} bears no mark of a run ({MARK}), so --fresh deletes nothing there. It holds "
            f"{', '.join(others[:SHOWN])}{more}.",
            "Choose another OUT, or empty it by hand.",
        )
    for name in (name for name in OURS if name in there):
        path = out / name
        refuse_links(out, path)
        is_folder = name in FOLDERS
        if path.is_dir() != is_folder or not (is_folder or is_ours(out, path)):
            raise StoreError(
                f"{path} was not written by Penstock, so it is left alone.",
                f"Choose another OUT. In a copy of a run, copy its folder {MARK} too.",
            )


def start_over(out: Path) -> None:
    """Deletes what earlier runs made in OUT, and nothing else."""
    with store_errors(out):
        remove_all(out, tuple(name for name in FOLDERS if name != CORRECTIONS))


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Returns those of the packages that results depend on, and of `more`, as far as they are here."""
    found = {"penstock": __version__, "python": platform.python_version()}
    for name in (*PACKAGES, *more):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def command() -> str:
    """Returns the command as it was typed, without passwords and keys."""
    return " ".join([Path(sys.argv[0]).name, *_without_secrets(sys.argv[1:])])


def _without_secrets(arguments: list[str]) -> list[str]:
    shown: list[str] = []
    for argument in arguments:
        if shown and shown[-1] in {"--password", "--api-key", "--hf-token"}:
            shown.append("***")
        elif argument.startswith(("--password=", "--api-key=", "--hf-token=")):
            shown.append(argument.split("=", 1)[0] + "=***")
        else:
            shown.append(redacted(argument))
    return shown
