"""The distribution has one name, penstock-pipeline, wherever a reader may copy it from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import penstock
import penstock_eval
from penstock.errors import DISTRIBUTION, install_advice

REPO = Path(__file__).resolve().parent.parent
EVALUATION = REPO / "packages" / "penstock-eval"
FRAMEWORKS = sorted(set((REPO / "packages").iterdir()) - {EVALUATION})
FOLDERS = {
    "src": (".py", ".html"),
    "packages": (".py", ".md", ".toml"),
    "docs": (".md",),
    "deploy": ("",),
    "examples": (".py",),
}
# `pip install penstock`, `penstock[extra]`: what a stranger's package would answer to
STRANGER = re.compile(r"pip install (?:-\S+ )*['\"]?penstock(?!-pipeline|-haystack)\b|(?<![\w-])penstock\[")


def readable() -> list[Path]:
    found = list(REPO.glob("*.md"))
    for folder, endings in FOLDERS.items():
        found += [
            path for path in (REPO / folder).rglob("*") if path.is_file() and path.name.endswith(endings)
        ]
    return [path for path in found if path.suffix not in {".pyc", ".png"}]


def project(home: Path = REPO) -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((home / "pyproject.toml").read_text("utf-8"))["project"]
    return read


def evaluation() -> dict[str, Any]:
    return project(EVALUATION)


def test_the_constant_is_the_projects_name() -> None:
    assert project()["name"] == DISTRIBUTION


@pytest.mark.parametrize(
    "text", ["pip install penstock", "pip install -U 'penstock[gpu]'", "'penstock[ray]'"]
)
def test_the_pattern_finds_the_other_name(text: str) -> None:
    assert STRANGER.search(text)
    assert not STRANGER.search(text.replace("penstock", DISTRIBUTION))


def test_nothing_tells_a_reader_to_install_the_other_penstock() -> None:
    texts = {path: path.read_text("utf-8") for path in readable()}
    assert len(texts) > 100
    assert [str(path) for path, text in texts.items() if STRANGER.search(text)] == []


def test_every_extra_that_a_message_names_exists() -> None:
    extras = project()["optional-dependencies"]
    advised = {
        extra
        for path in (REPO / "src").rglob("*.py")
        for extra in re.findall(r"""install_advice\(["'](\w+)["']\)""", path.read_text("utf-8"))
    }
    assert len(advised) > 4
    assert advised <= set(extras)
    assert install_advice("gpu") == "Run: pip install 'penstock-pipeline[gpu]'"


def test_windows_is_refused_at_import_in_one_sentence() -> None:
    code = "import sys; sys.platform = 'win32'; import penstock"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    sentence = "Penstock runs on Linux and macOS; on Windows install it inside WSL (wsl --install)."
    assert done.stderr.splitlines()[-1] == f"ImportError: {sentence}"


def test_the_extra_all_holds_what_needs_no_gpu() -> None:
    extras = project()["optional-dependencies"]
    [together] = extras["all"]
    named = set(re.findall(r"\w+", together.split("[")[1]))
    # the wheels behind `heic` hold LGPL and GPL code: whoever wants them asks for them
    assert named == set(extras) - {"all", "dev", "docs", "gpu", "heic", "vllm"}


def test_the_licence_and_the_notice_are_packed() -> None:
    assert project()["license-files"] == ["LICENSE", "NOTICE"]
    assert "PP-DocLayoutV3" in (REPO / "NOTICE").read_text("utf-8")
    assert evaluation()["license-files"] == ["LICENSE", "NOTICE"]
    assert "OmniDocBench" in (EVALUATION / "NOTICE").read_text("utf-8")
    assert (EVALUATION / "LICENSE").read_bytes() == (REPO / "LICENSE").read_bytes()


def test_the_evaluation_is_released_in_step() -> None:
    assert penstock_eval.__version__ == penstock.__version__
    assert f"{DISTRIBUTION}=={penstock.__version__}" in evaluation()["dependencies"]
    assert project()["optional-dependencies"]["eval"] == [evaluation()["name"]]


@pytest.mark.parametrize("home", FRAMEWORKS, ids=lambda home: home.name)
def test_a_package_for_a_framework_is_released_in_step(home: Path) -> None:
    facts = project(home)
    assert (facts["name"], facts["version"]) == (home.name, penstock.__version__)
    assert f"{DISTRIBUTION}=={penstock.__version__}" in facts["dependencies"]
    assert facts["license-files"] == ["LICENSE"]
    assert (home / "LICENSE").read_bytes() == (REPO / "LICENSE").read_bytes()
    assert list((home / "src").rglob("py.typed"))


def test_the_typescript_client_is_released_in_step_and_its_types_are_those_of_the_service(
    tmp_path: Path,
) -> None:
    home = REPO / "clients" / "typescript"
    assert json.loads((home / "package.json").read_text("utf-8"))["version"] == penstock.__version__
    tool = REPO / "tools" / "typescript_client.py"
    subprocess.run([sys.executable, tool, tmp_path / "api.ts"], check=True)
    is_same = (tmp_path / "api.ts").read_text("utf-8") == (home / "src" / "api.ts").read_text("utf-8")
    assert is_same, "run python tools/typescript_client.py clients/typescript/src/api.ts"


def test_the_evaluation_is_found_by_its_entry_points() -> None:
    """What is installed here says what the project says, and each name can be loaded."""
    for group, named in evaluation()["entry-points"].items():
        found = {point.name: point for point in entry_points(group=group)}
        assert {name: point.value for name, point in found.items()} == named
        assert all(callable(point.load()) for point in found.values())


@pytest.mark.parametrize(
    "call", ["penstock.evaluate('pages', out='x')", "list_search()", "app(['eval', 'list'])"]
)
def test_without_the_evaluation_a_sentence_says_how_to_install_it(call: str) -> None:
    code = (
        "import importlib.metadata as metadata\n"
        "metadata.entry_points = lambda **chosen: ()\n"
        "import penstock\n"
        "from penstock.cli.app import app\n"
        "from penstock.passes.scores import evaluate_search\n"
        "list_search = lambda: evaluate_search(None, [])\n"
        f"try: {call}\n"
        "except penstock.MissingModel as exc: print(exc)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith(f"needs penstock_eval. {install_advice('eval')}\n"), done.stderr


@pytest.mark.parametrize("home", [REPO, EVALUATION], ids=["penstock", "evaluation"])
def test_every_file_that_code_opens_beside_itself_is_packed(home: Path) -> None:
    """Files that are no Python come into a wheel only by a pattern of package-data."""
    project = tomllib.loads((home / "pyproject.toml").read_text("utf-8"))
    [(name, patterns)] = project["tool"]["setuptools"]["package-data"].items()
    package = home / "src" / name
    packed = {file for pattern in patterns for file in package.glob(pattern)}
    others = {
        file
        for file in package.rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc"} and "__pycache__" not in file.parts
    }
    assert {str(file.relative_to(package)) for file in others - packed} == set()
