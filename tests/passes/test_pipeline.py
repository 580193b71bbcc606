"""`penstock run kopub` from a dataset on a hub to results on one, with the real client, killed twice."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import StoreError, UsageError
from penstock.passes.pipeline import Pipeline, count_within
from penstock.passes.pipeline_check import STEPS, chosen_steps
from penstock.passes.pipeline_options import PipelineOptions
from penstock.passes.pipeline_presets import PRESETS, corpus_of, queries_of
from penstock.sources.remote import hub
from penstock.stages.ground import Ground
from penstock.store import manifest
from penstock.store.out import Out
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_server import FakeServer, serving
from tests.support.hub_server import Hub
from tests.support.kopub_dataset import write_dataset
from tests.support.pipeline_calls import TOKEN, command, environment, served


def test_steps_are_chosen_in_their_order() -> None:
    assert chosen_steps(None, ()) == STEPS
    assert chosen_steps("ocr", ("download",)) == ("check", "parse")
    assert chosen_steps("embed", ("evaluate",)) == ("enrich", "embed", "index")
    with pytest.raises(UsageError, match="--step"):
        chosen_steps("train", ())
    with pytest.raises(UsageError, match="not a step"):
        chosen_steps(None, ("sleep",))


def test_corpus_and_questions_are_found_by_kopubs_names(tmp_path: Path) -> None:
    write_dataset(tmp_path / "set")
    (tmp_path / "set" / ".cache" / "corpus").mkdir(parents=True)
    assert corpus_of(tmp_path / "set", PRESETS["kopub"]).name == "SDS-KoPub-corpus"
    found = queries_of(tmp_path / "set", PRESETS["kopub"])
    assert found is not None
    assert found.parent.name == "SDS-KoPub-QA"


def test_what_cannot_work_is_said_before_anything_is_done(tmp_path: Path) -> None:
    with Hub() as hub:
        env = environment(hub, tmp_path)
        gone = subprocess.run(command(tmp_path), env=env, capture_output=True, text=True, timeout=300)
    assert gone.returncode == 2
    assert "There is no dataset test/kopub on the Hub" in gone.stderr
    assert TOKEN not in gone.stdout + gone.stderr


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"precision": "int4"}, "int4 is not known"),
        ({"queries": Path("nowhere.jsonl")}, "no file of queries"),
        ({"ocr_dtype": "int3"}, "int3 is not known"),
        ({"recipe": "nope"}, "There is no recipe 'nope'"),
        ({"repo": "me/results"}, "Uploading needs a token"),
    ],
)
def test_a_wrong_option_is_said_before_a_page_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(hub, "has_token", bool)  # the machine may have one
    options = PipelineOptions(out=tmp_path / "out", data=tmp_path, inputs=("nothing.pdf",), **wrong)
    with pytest.raises(UsageError, match=words):
        list(Pipeline(options).run(("check",)))


def test_only_recipes_that_read_by_server_are_taken_beside_the_built_in_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Choose from: builtin, glm-ocr"):
        Pipeline(PipelineOptions(out=tmp_path, data=tmp_path, recipe="photos"))


def test_pages_of_two_revisions_are_not_mixed(tmp_path: Path) -> None:
    manifest.write(tmp_path, fake(), revision="a" * 40)
    options = PipelineOptions(
        out=tmp_path, data=tmp_path / "data", dataset="me/pages", revision="b" * 12, recipe="builtin"
    )
    with pytest.raises(UsageError, match="holds pages of revision aaaaaaaaaaaa, not of bbbbbbbbbbbb"):
        list(Pipeline(options).run(("download",)))


def test_a_revision_is_asked_for_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def download(repo: str, folder: Path, revision: str | None, token: str | None) -> hub.Snapshot:
        asked.append(revision)
        return hub.Snapshot(repo, "c" * 40, folder)

    monkeypatch.setattr(hub, "download", download)
    options = PipelineOptions(
        out=tmp_path, data=tmp_path, dataset="me/pages", revision="v1.2", recipe="builtin"
    )
    pipeline = Pipeline(options)
    list(pipeline.run(("download",)))
    manifest.write(tmp_path, fake(), revision=pipeline.state.revision)
    list(Pipeline(options).run(("download",)))
    assert asked == ["v1.2", "c" * 40]


def test_an_upload_leaves_what_people_sent_at_home(tmp_path: Path) -> None:
    for name in ("run.json", "uploads/00aa/private.pdf", "damaged/items-a.parquet"):
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_bytes(b"x" * 5_000)
    code = "import sys; from pathlib import Path; from penstock.sources.remote import hub;"
    code += "hub.upload(Path(sys.argv[1]), 'me/pages', 'a card', names=['run.json', 'damaged', 'uploads'])"
    with Hub() as server:
        words = [sys.executable, "-c", code, str(tmp_path / "out")]
        done = subprocess.run(
            words, env=environment(server, tmp_path), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert set(server.repos["me/pages"]) == {"run.json", "README.md"}


def test_a_hub_that_cannot_be_reached_is_a_sentence_without_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(StoreError, match="cannot be reached") as gone:
        hub.download("me/pages", tmp_path, token=TOKEN)
    assert TOKEN not in str(gone.value)
    with pytest.raises(UsageError, match="is not the name of a dataset"):
        hub.download("no such name", tmp_path)


def test_a_sample_run_tells_how_long_the_whole_data_set_would_take(tmp_path: Path) -> None:
    write_dataset(tmp_path / "set")
    with serving(FakeServer(model="glm-ocr")) as url:
        pipeline = Pipeline(replace(served(tmp_path, servers=(url,)), limit=2))
        [line] = pipeline.run(("parse",))
    assert re.search(r"2 pages read, 0 were done, 0 failed; at this rate all 30 pages take \d", line)
    assert pipeline.state.estimate["pages"] == 30
    assert Out(tmp_path / "output").run()["crop_names"] == "page"
    told = CliRunner().invoke(app, ["profile", str(tmp_path / "output")]).output
    assert "At this rate: 30 pages in " in told
    told = CliRunner().invoke(app, ["profile", str(tmp_path / "output"), "--pages", "40781"]).output
    assert "At this rate: 40,781 pages in " in told and "for 40,781" in told


def test_where_counting_takes_long_the_published_number_is_taken(tmp_path: Path) -> None:
    ticks = iter(range(100))
    assert count_within(iter("abcdef"), 50, lambda: next(ticks)) == 6
    assert count_within(iter("abcdef"), 3, lambda: next(ticks)) is None
    options = PipelineOptions(out=tmp_path, data=tmp_path, source_preset=PRESETS["kopub"])
    assert options.published_pages == 40_781
    assert replace(options, inputs=("mine.pdf",)).published_pages == 0
    assert replace(options, dataset="another/set").published_pages == 0


def test_the_limit_counts_pages_whatever_documents_they_are_in(tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (60, 80), "white").save(tmp_path / f"{number}.png")
    options = PipelineOptions(
        out=tmp_path / "out", data=tmp_path, inputs=(str(tmp_path),), settings={"layout": "rules"}, limit=2
    )
    made = Pipeline(options)
    list(made.run(("parse",)))
    assert made.state.pages["done"] == 2


def test_the_recipes_own_options_are_taken_and_reach_the_server_and_run_json(tmp_path: Path) -> None:
    Image.new("RGB", (900, 1200), "white").save(tmp_path / "page.png")
    out = tmp_path / "out"
    with serving(FakeServer(max_model_len=32_768, encoder_tokens=32_768)) as url:
        call = ["run", "pages", str(tmp_path / "page.png"), "--output-dir", str(out), "--server", url]
        call += ["--recipe", "grounded-2", "--resolution", "untiled", "--prompt-mode", "describe"]
        call += ["--ngram", "20", "--step", "ocr", "--embedding-server", "http://not.asked"]
        done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    [row] = [json.loads(line) for line in (out / "ocr_results.jsonl").read_text("utf-8").splitlines()]
    assert "Describe this image in detail. 576x768" in row["markdown"]
    told = json.loads((out / "run.json").read_text("utf-8"))["plan"][-1]
    assert (told["resolution"], told["ngram"]) == ("untiled", 20)


def test_an_option_that_the_recipe_cannot_do_is_said_before_a_page_is_read(tmp_path: Path) -> None:
    call = ["run", "pages", "nothing.pdf", "--output-dir", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*call, "--recipe", "grounded", "--resolution", "tiny"])
    assert "vLLM reads pages in one resolution" in str(done.exception)
    done = CliRunner().invoke(app, [*call, "--layout-nms"])
    assert "does not take --layout-nms" in str(done.exception)


def test_transformers_reads_without_a_server(tmp_path: Path) -> None:
    options = PipelineOptions(
        out=tmp_path / "out", data=tmp_path, inputs=("nothing.pdf",), recipe="grounded-2",
        settings={"engine": "hf"}, ocr_model="a-folder", embedding_server="http://a",
    )  # fmt: skip
    ground = Pipeline(options)._plan().stages[-1]
    assert isinstance(ground, Ground)
    assert (ground.engine, ground.model, ground.overlap) == ("hf", "a-folder", 1)
