"""GitHub runs the Makefile's words, and installs vLLM once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parent.parent
JOBS: dict[str, Any] = yaml.safe_load((REPO / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]


def words(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if step.get("run", "").startswith("make ")]


def test_every_word_that_a_job_runs_is_in_the_makefile() -> None:
    makefiles = [REPO / "Makefile", *(REPO / "mk").glob("*.mk")]
    known = {word for file in makefiles for word in re.findall(r"^([a-z-]+):", file.read_text("utf-8"), re.M)}
    run = {word.split()[1] for job in JOBS for word in words(job)}
    assert run == {"check", "test", "coverage", "test-slow", "test-vllm", "docs"}
    assert run <= known


def test_the_checks_run_on_both_pythons_and_the_long_ones_once() -> None:
    assert JOBS["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12"]
    assert words("test") == ["make check", "make test COVERAGE=1", "make coverage"]
    assert [job for job in JOBS if "strategy" in JOBS[job]] == ["test"]
    assert [job for job in JOBS if "make test-vllm" in words(job)] == ["vllm"]


def test_the_environment_of_vllm_is_kept_as_long_as_what_makes_it_is_the_same() -> None:
    steps = JOBS["vllm"]["steps"]
    [cache] = [step["with"] for step in steps if step.get("with", {}).get("path") == ".venv-vllm"]
    kept_by = set(re.findall(r"'([^']+)'", cache["key"]))
    rule = re.search(r"^\$\(VLLM_VENV\)/\.ready: (.+)$", (REPO / "mk" / "vllm.mk").read_text("utf-8"), re.M)
    assert rule is not None
    assert {*rule[1].split(), "mk/vllm.mk", "pyproject.toml"} <= kept_by
    assert all((REPO / path).is_file() for path in kept_by)


def test_issue_forms_and_hooks_can_be_read() -> None:
    forms = [*(REPO / ".github" / "ISSUE_TEMPLATE").glob("*.yml"), REPO / ".pre-commit-config.yaml"]
    assert len(forms) == 5
    assert all(isinstance(yaml.safe_load(form.read_text("utf-8")), dict) for form in forms)
