"""deploy/slurm.sh and kubernetes.yaml give each rank its partition; ray.yaml is a cluster as Ray wants it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from penstock.cli.app import app
from tests.support.json_schema import check_schema

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


def command_of_rank(*command: str, **environment: str) -> str:
    """Returns the command of a rank as it would run: `echo` stands where the program is found."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "penstock"
        program.write_text('#!/bin/sh\necho "$@"\n')
        program.chmod(0o755)
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command, env={"PATH": path, **environment}, capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_array_of_slurm_reads_each_partition_once() -> None:
    script = str(DEPLOY / "slurm.sh")
    for rank in ("1", "3"):
        ran = command_of_rank(
            script, "in", "out", "--lang", "ko", SLURM_ARRAY_TASK_ID=rank, SLURM_ARRAY_TASK_COUNT="3"
        )
        assert ran == f"parse in -o out --partition {rank}/3 --quiet --lang ko\n"
    path = os.environ["PATH"]
    alone = subprocess.run(
        ["bash", script, "in", "out"], env={"PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert alone.returncode != 0 and "run it as an array" in alone.stderr


def test_an_indexed_job_reads_each_partition_once() -> None:
    job = yaml.safe_load((DEPLOY / "kubernetes.yaml").read_text("utf-8"))["spec"]
    [container] = job["template"]["spec"]["containers"]
    given = {one["name"]: one["value"] for one in container["env"]}
    assert job["completions"] == job["parallelism"] == int(given["RANKS"])
    assert job["completionMode"] == "Indexed"
    for index in (0, job["completions"] - 1):
        ran = command_of_rank(
            *container["command"], *container["args"], JOB_COMPLETION_INDEX=str(index), **given
        )
        named = f"--partition {index + 1}/{job['completions']}"
        assert ran == f"parse {given['INPUTS']} -o {given['OUT']} {named} --quiet\n"


def test_the_file_of_a_cluster_is_one_that_ray_takes_and_its_command_one_of_ours() -> None:
    schema = pytest.importorskip("ray.autoscaler", reason="needs penstock-pipeline[ray]").__file__
    text = (DEPLOY / "ray.yaml").read_text("utf-8")
    cluster = yaml.safe_load(text)
    check_schema(cluster, Path(schema).with_name("ray-schema.json"))
    assert cluster["head_node_type"] in cluster["available_node_types"]
    [command] = re.findall(r'"penstock (parse .*)"', text)
    shown = CliRunner().invoke(app, [*command.split(), "--help"])
    assert shown.exit_code == 0 and "--executor ray" in command
