"""GitHub runs the Makefile's words, installs vLLM once, and installs what users install."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parent.parent
WORKFLOWS = REPO / ".github" / "workflows"
JOBS: dict[str, Any] = yaml.safe_load((WORKFLOWS / "ci.yml").read_text("utf-8"))["jobs"]
RELEASE: dict[str, Any] = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))["jobs"]


def words(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if step.get("run", "").startswith("make ")]


def test_every_word_that_a_job_runs_is_in_the_makefile() -> None:
    makefiles = [REPO / "Makefile", *(REPO / "mk").glob("*.mk")]
    known = {word for file in makefiles for word in re.findall(r"^([a-z-]+):", file.read_text("utf-8"), re.M)}
    run = {word.split()[1] for job in JOBS for word in words(job)}
    assert run == {"check", "test", "coverage", "test-slow", "test-vllm", "docs", "dist"}
    assert run <= known


def pythons() -> list[str]:
    """The Pythons that the classifiers name."""
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def test_the_checks_run_on_every_python_and_the_long_ones_once() -> None:
    assert pythons() == ["3.11", "3.12", "3.13", "3.14"]
    assert JOBS["test"]["strategy"]["matrix"]["python"] == pythons()
    assert words("test") == ["make check", "make test COVERAGE=1", "make coverage"]
    assert [job for job in JOBS if "strategy" in JOBS[job]] == ["test", "install"]
    assert [job for job in JOBS if "make test-vllm" in words(job)] == ["vllm"]


def steps_of(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


def test_the_wheel_is_installed_on_every_system_without_pip_and_reads_a_page() -> None:
    install = JOBS["install"]
    matrix = install["strategy"]["matrix"]
    systems = [*matrix["system"], *(more["system"] for more in matrix["include"])]
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos"}
    assert matrix["python"] == pythons() and install["needs"] == "dist"
    assert "venv --without-pip" in steps_of(install) and "penstock parse" in steps_of(install)


def test_the_image_without_a_gpu_is_built_and_reads_without_a_network() -> None:
    run = steps_of(JOBS["image"])
    [built] = re.findall(r"docker build -f (\S+)", run)
    assert (REPO / built).is_file()
    assert "docker run --init --network none" in run and "out/markdown/sample.md" in run


def test_a_release_is_tested_before_it_is_published() -> None:
    run = steps_of(RELEASE["dist"])
    assert run.index("make check") < run.index("make test") < run.index("make dist")
    assert RELEASE["publish"]["needs"] == "dist" and RELEASE["page"]["needs"] == "publish"
    assert RELEASE["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    used = [step["uses"].partition("@")[0] for step in RELEASE["publish"]["steps"]]
    assert used.index("actions/attest-build-provenance") < used.index("pypa/gh-action-pypi-publish")


def test_actions_are_pinned_by_commit_with_their_version_beside_it() -> None:
    lines = [line for file in WORKFLOWS.glob("*.yml") for line in file.read_text("utf-8").splitlines()]
    used = [line for line in lines if "uses:" in line]
    assert len(used) > 20
    assert [line for line in used if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


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
