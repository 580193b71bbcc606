"""The HTTP API over a real socket: documents in, pages out, hostile calls refused, nothing lost."""

from __future__ import annotations

import posixpath
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import pytest

import penstock
from penstock.errors import OutLocked, UsageError
from penstock.page import Page
from penstock.photos.user_boxes import GivenBox
from penstock.recipes.photos import photos
from penstock.serve.reading.service import Service
from penstock.store.ledger import Ledger
from penstock.store.out import Out
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeRecognise

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.testing import FAKE
from tests.support.command import here
from tests.support.running_service import SAMPLE, Client, Running, await_up, free_port
from tests.support.waiting import HANGS_S


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "below" / "out"


@pytest.fixture(scope="module")
def client(out: Path) -> Iterator[Client]:
    with Service(out, fake(fails=(2,))) as service, Running(service) as client:
        yield client


def test_a_document_is_read_and_its_pages_and_pictures_can_be_had(client: Client) -> None:
    told = client.send("보고서 1.pdf", SAMPLE.read_bytes())
    name = told["name"]
    assert name.endswith("/보고서 1.pdf")
    assert client.wait(name)["pages"] == 4
    status, row = client(f"/v1/page?page=1&name={urllib.parse.quote(name)}")
    assert status == 200
    assert row["document"] == name
    assert row["valid"]
    assert [region["label"] for region in row["regions"]] == ["paragraph_title", "text"]
    status, jpeg = client(f"/v1/picture?page=1&name={urllib.parse.quote(name)}")
    assert status == 200
    assert jpeg.startswith(b"\xff\xd8")
    status, markdown = client(f"/v1/markdown?name={urllib.parse.quote(name)}")
    assert status == 200
    assert "<!-- page 4 -->" in markdown.decode()
    assert name in [row["name"] for row in client("/v1/documents")[1]]


def test_a_locator_is_answered_with_what_stands_there(client: Client) -> None:
    name = client.send("가 나.pdf", SAMPLE.read_bytes())["name"]
    client.wait(name)
    _, row = client(f"/v1/page?name={urllib.parse.quote(name)}&page=2")
    region = row["regions"][0]
    status, found = client(f"/v1/at?locator={urllib.parse.quote(region['locator'])}")
    assert (status, found["document"], found["page"], found["region"]) == (200, name, 2, region["index"])
    assert (found["text"], found["bbox"]) == (region["content"], region["bbox_2d"])
    for wrong in (f"{row['locator']}/r9999", "penstock:no.pdf/p1", "report.pdf"):
        status, told = client(f"/v1/at?locator={urllib.parse.quote(wrong)}")
        assert status == 404 and told["error"]


def test_a_page_that_fails_says_why_and_the_others_are_there(client: Client) -> None:
    name = client.send("other.pdf", SAMPLE.read_bytes())["name"]
    told = client.wait(name)
    assert (told["done"], told["failed"]) == (3, 1)
    assert [part["ok"] for part in told["parts"]] == [True, True, False, True]
    _, row = client(f"/v1/page?page=3&name={name}")
    assert not row["valid"]
    assert "asked to fail" in row["failure"]["message"]
    status, told = client(f"/v1/picture?page=3&name={name}")
    assert (status, "asked to fail" in told["error"]) == (404, True)


def test_sent_again_only_the_pages_that_failed_are_read_again(tmp_path: Path) -> None:
    with Service(tmp_path, fake(fails=(2,))) as service, Running(service) as client:
        first = client.send("same.pdf", SAMPLE.read_bytes())
        client.wait(first["name"])
        again = client.send("same.pdf", SAMPLE.read_bytes())
        assert again["name"] == first["name"]
        assert client.wait(first["name"])["failed"] == 1
        assert client("/health")[1]["waiting_pages"] == 0
    entries = Ledger(tmp_path, PAGES).entries().values()
    assert {entry.part: entry.attempt for entry in entries} == {0: 1, 1: 1, 2: 2, 3: 1}


def test_a_document_that_went_well_is_not_read_again(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        name = client.send("same.pdf", SAMPLE.read_bytes())["name"]
        client.wait(name)
        again = client.send("same.pdf", SAMPLE.read_bytes())
        assert (again["name"], again["ready"]) == (name, True)


def test_a_broken_document_fails_with_a_sentence(client: Client) -> None:
    name = client.send("notes.pdf", b"%PDF-1.7 these are notes")["name"]
    assert client.wait(name)["failed"] == 1
    _, row = client(f"/v1/page?page=1&name={name}")
    assert "notes.pdf" in row["failure"]["message"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/../../b.pdf", "C:\\x\\y.pdf", "\u202egnp.exe", "con", "x" * 400]
)
def test_no_name_leads_out_of_the_uploads(client: Client, out: Path, name: str) -> None:
    client.wait(client.send(name, b"%PDF-1.4 nothing" + name.encode())["name"])
    outside = [
        path for path in out.parent.parent.rglob("*") if path.is_file() and not path.is_relative_to(out)
    ]
    assert not outside
    assert all(
        len(path.relative_to(out / "uploads").parts) == 2
        for path in (out / "uploads").rglob("*")
        if path.is_file()
    )


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/document?name=nobody", 404),
        ("/v1/markdown?name=nobody", 404),
        ("/v1/page?name=nobody&page=1", 404),
        ("/v1/page?name=nobody&page=0", 422),
        ("/v1/page?name=nobody&page=x", 422),
        ("/v1/file/../run.json", 404),
        ("/v1/file/crops/../run.json", 404),
        ("/v1/file/%2Fetc%2Fpasswd", 404),
        ("/v1/file/crops%2F..%2Frun.json", 404),
        ("/v1/search?q=", 422),
        ("/v1/nothing", 404),
    ],
)
def test_wrong_questions_get_an_answer(client: Client, path: str, status: int) -> None:
    assert client(path)[0] == status


def test_an_empty_or_too_large_body_is_refused_and_leaves_nothing(client: Client, out: Path) -> None:
    assert client("/v1/documents?name=a.pdf", b"")[0] == 400
    status, told = client("/v1/documents?name=a.pdf", bytes(5 << 20))
    assert status == 413
    assert "4 MB" in told["error"]
    assert not list((out / "uploads").glob(".incoming*"))


def test_pages_of_other_origins_may_not_send(client: Client) -> None:
    status, told = client("/v1/documents?name=a.pdf", b"%PDF-", Origin="http://evil.example")
    assert status == 403
    assert "evil.example" in told["error"]
    assert client("/v1/documents", Origin=client.url)[0] == 200


def test_the_page_and_its_script_are_served_with_a_policy(client: Client) -> None:
    with urllib.request.urlopen(client.url + "/") as answer:
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "require-trusted-types-for 'script'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        page = answer.read().decode()
    named = re.findall(r'(?:src|href)="(web/[^"]+)"', page)
    assert {name.rpartition(".")[2] for name in named} == {"css", "js", "svg"}
    modules = [name.removeprefix("web/") for name in named if name.endswith(".js")]
    for module in modules:  # those that a module imports come after it
        status, source = client(f"/web/{module}")
        assert status == 200, module
        for told in re.findall(r'from "([^"]+)"', source.decode()):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(module), told))
            modules += [path] if path not in modules else []
    files = Path(penstock.__file__).parent.joinpath("serve", "web")
    assert sorted(modules) == sorted(str(file.relative_to(files)) for file in files.rglob("*.js"))
    assert (
        max(len(file.read_text().splitlines()) for file in files.rglob("*.*")) <= 250
    )  # read in one sitting
    assert all(client("/" + name)[0] == 200 for name in named)
    assert "<script>" not in page
    assert " style=" not in page
    assert client("/health")[1]["takes_documents"] is True


def test_a_browser_shows_what_a_page_says(client: Client) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs a browser: chromium or google-chrome")
    name = client.send("보고서 2.pdf", SAMPLE.read_bytes())["name"]
    client.wait(name)
    _, row = client(f"/v1/page?page=1&name={urllib.parse.quote(name)}")
    address = f"{client.url}/#page=1&name={urllib.parse.quote(name)}"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run([browser, *flags, address], capture_output=True, text=True, timeout=300).stdout
    assert "보고서 2.pdf" in shown
    assert all(region["content"] in shown for region in row["regions"])


def test_a_run_without_a_recipe_is_shown_and_takes_nothing(client: Client, out: Path) -> None:
    with Service(out) as service, Running(service) as reader:
        assert reader("/v1/documents?name=a.pdf", b"%PDF-")[0] == 405
        assert reader("/health")[1]["takes_documents"] is False
        assert [row["ready"] for row in reader("/v1/documents")[1]]


@pytest.mark.slow
def test_a_run_with_an_index_can_be_searched(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="needs penstock-pipeline[search]")
    from penstock.retrieval.index import build

    [first, *_] = penstock.parse(SAMPLE, out=tmp_path, recipe=FAKE)
    build(Out(tmp_path))
    words = first.regions[1].content
    assert words
    with Service(tmp_path) as service, Running(service) as reader:
        status, hits = reader("/v1/search?top=1&q=" + urllib.parse.quote(words))
    assert status == 200
    assert (hits[0]["document"], hits[0]["page"]) == ("sample.pdf", first.part + 1)


@pytest.mark.slow
def test_a_photo_is_measured(tmp_path: Path) -> None:
    box = GivenBox(photo="", box=(300.0, 300.0, 700.0, 900.0), label="chair")
    photo = np.full((1080, 1440, 3), 200, np.uint8)
    photo[300:900, 300:700] = (60, 90, 120)
    with Service(tmp_path, photos(boxes=(box,))) as service, Running(service) as client:
        name = client.send("room.jpg", cv2.imencode(".jpg", photo)[1].tobytes())["name"]
        assert client.wait(name)["done"] == 1
        _, row = client(f"/v1/page?page=1&name={name}")
        [thing] = row["objects"]
        assert thing["label"] == "chair"
        assert thing["range_cbm"][0] < thing["bbox_cbm"] < thing["range_cbm"][1]
        assert row["total"]["cbm"] == pytest.approx(thing["bbox_cbm"], abs=1e-3)
        assert client(f"/v1/picture?page=1&name={name}")[1].startswith(b"\xff\xd8")
        assert client(f"/v1/file/{thing['mask']}")[1].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--recipe", "nothing"], "no recipe"),
        (["--recipe", "photos", "--layout", "rules"], "does not take --layout"),
        (["--recipe", "documents", "--labels", "sofa"], "does not take --labels"),
        (["--recipe", FAKE, "--host", "nowhere.invalid"], "listen"),
    ],
)
def test_wrong_calls_are_sentences(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = here("serve", tmp_path / "out", "--port", "0", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_options_for_reading_want_a_recipe(client: Client, out: Path) -> None:
    done = here("serve", out, "--port", "0", "--lang", "ko")
    assert (done.returncode, "--lang is for reading" in done.stderr) == (2, True)


def test_a_second_service_is_refused(client: Client, out: Path) -> None:
    with pytest.raises(OutLocked), Service(out, fake(fails=(2,))):
        pass


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        Service(tmp_path / "nothing")


@pytest.mark.slow
def test_killed_in_mid_document_it_goes_on_after_the_next_start(tmp_path: Path) -> None:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "penstock",
        "serve",
        str(tmp_path / "out"),
        "--recipe",
        FAKE,
        "--port",
        str(port),
    ]
    client = Client(f"http://127.0.0.1:{port}")
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    await_up(client)
    name = client.send("report.pdf", SAMPLE.read_bytes())["name"]
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        await_up(client)
        assert client.wait(name)["done"] == 4
    finally:
        second.send_signal(signal.SIGINT)
        assert second.wait(60) == 0
    entries = Ledger(tmp_path / "out", PAGES).entries()
    assert sorted(entry.part for entry in entries.values()) == [0, 1, 2, 3]


@pytest.mark.slow
def test_many_who_wait_hold_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, may_go_on = FakeRecognise._read, threading.Event()

    def read_later(self: FakeRecognise, page: Page) -> Page:
        assert may_go_on.wait(HANGS_S)
        return read(self, page)

    monkeypatch.setattr(FakeRecognise, "_read", read_later)
    with Service(tmp_path, fake()) as service, Running(service) as client:
        name = client.send("slow.pdf", SAMPLE.read_bytes())["name"]
        path = f"/v1/document?name={name}&wait=60"
        with ThreadPoolExecutor(60) as pool:
            waiting = [pool.submit(client, path) for _ in range(60)]
            assert [client("/health")[0] for _ in range(20)] == [200] * 20
            assert not any(one.done() for one in waiting)
            may_go_on.set()
            assert all(one.result()[1]["ready"] for one in waiting)
        assert client("/health")[1]["waiting_pages"] == 0


def test_failures_are_told_and_only_failed_pages_are_read_again(tmp_path: Path) -> None:
    with Service(tmp_path, fake(fails=(2,))) as service, Running(service) as client:
        name = client.send("same.pdf", SAMPLE.read_bytes())["name"]
        client.wait(name)
        [failure] = client("/v1/failures")[1]
        assert (failure["document"], failure["page"], failure["stage"]) == (name, 3, "fake_recognise")
        assert "asked to fail" in failure["message"]
        assert failure["can_try_again"]
        status, told = client(f"/v1/retry?name={name}", b"")
        assert (status, told["name"], told["ready"]) == (202, name, False)
        assert client.wait(name)["failed"] == 1
        assert client("/v1/retry?name=nobody", b"")[0] == 404
    entries = Ledger(tmp_path, PAGES).entries().values()
    assert {entry.part: entry.attempt for entry in entries} == {0: 1, 1: 1, 2: 2, 3: 1}


def test_the_stages_of_the_run_are_told(client: Client, tmp_path: Path) -> None:
    client.wait(client.send("stages.pdf", SAMPLE.read_bytes())["name"])
    _, run = client("/v1/run")
    assert [stage["name"] for stage in run["stages"]] == ["load", "fake_layout", "fake_recognise"]
    assert run["stages"][0]["done"] >= 4
    assert run["is_live"]
    assert run["done"] >= 3
    assert run["finding"]
    with Service(tmp_path) as service, Running(service) as reader:
        status, run = reader("/v1/run")
    assert (status, run["is_live"], run["stages"]) == (200, False, [])


def test_a_picture_is_as_small_as_asked_for(client: Client) -> None:
    name = client.send("small.pdf", SAMPLE.read_bytes())["name"]
    client.wait(name)
    _, jpeg = client(f"/v1/picture?page=1&boxes=false&side=100&name={name}")
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert max(picture.shape) == 100
    assert client(f"/v1/picture?page=1&side=100000&name={name}")[0] == 422
