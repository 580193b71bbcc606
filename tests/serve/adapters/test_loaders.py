"""Open WebUI's loaders and RAGFlow's MinerU client: their requests, and every way in that was thought of.

`make test-clients` asks with the loaders' own files.
"""

from __future__ import annotations

import base64
import io
import json
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from penstock.serve.reading.service import Service
from penstock.serve.reading.upload_folder import UploadFolder
from penstock.serve.requests.received_file import ReceivedFile
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.adapters import mistral_files
from penstock.serve.adapters.mineru import discarding_margins
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.keys import KeyOwner, KeyRing, hash_of
from penstock.serve.requests import kept_files
from penstock.serve.requests.kept_files import KEEP_S, MIN_KEEP_S, KeptFiles
from tests.serve.jobs.test_jobs import form
from tests.support.running_service import SAMPLE, Client, Running
from tests.support.waiting import wait_until

KEY = "pk_secret"
DATA = SAMPLE.read_bytes()
ANN, BOB = ({"Authorization": f"Bearer {KEY}-{name}"} for name in ("ann", "bob"))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loaders") / "out"


@pytest.fixture(scope="module")
def client(out: Path) -> Iterator[Client]:
    ring = KeyRing([KeyOwner(name=name, sha256=hash_of(f"{KEY}-{name}")) for name in ("ann", "bob")])
    with Service(out, fake(fails=(3,))) as service, Running(service, keys=ring) as client:
        yield client


def put(client: Client, name: str, data: bytes, **headers: str) -> tuple[int, Any]:
    return client("/process", data, "PUT", **{"X-Filename": name, **ANN, **headers})


def uploaded(client: Client, name: str = "a.pdf", data: bytes = DATA) -> dict[str, Any]:
    body, headers = form(file=[(name, data)], purpose="ocr")
    status, told = client("/v1/files", body, **headers, **ANN)
    assert status == 200, told
    return dict(told)


def link(client: Client, file: dict[str, Any]) -> str:
    status, told = client(f"/v1/files/{file['id']}/url?expiry=1", **ANN)
    assert status == 200, told
    return str(told["url"])


def ocr(client: Client, document: dict[str, Any], **headers: str) -> tuple[int, Any]:
    kind = {"Content-Type": "application/json"}
    return client("/v1/ocr", json.dumps({"document": document}).encode(), **kind, **{**ANN, **headers})


# the external document loader


def test_the_external_loader_gets_an_entry_for_each_page_with_text(client: Client) -> None:
    status, told = put(client, quote("보고서 1.pdf"), DATA, **{"Content-Type": "application/pdf"})
    assert status == 200, told
    assert [one["metadata"]["page"] for one in told] == [0, 1, 2]  # the fourth page fails
    assert told[0]["metadata"] == {"source": "보고서 1.pdf", "page": 0, "page_label": "1", "total_pages": 4}
    assert all(one["page_content"].strip() for one in told)


@pytest.mark.parametrize(
    "name",
    [
        "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fcron.d%2Fx", "..", "%2e%2e", "a%00b.pdf", "%ff%fe", "%", "",
        "C%3A%5Cx", "x" * 300 + ".pdf", quote("가" * 300),
    ],
)  # fmt: skip
def test_a_hostile_name_is_only_a_name(client: Client, out: Path, name: str) -> None:
    status, told = put(client, name, pdf([name]))
    assert status == 200, told
    source = told[0]["metadata"]["source"]
    assert "/" not in source and "\\" not in source and "\0" not in source and source.strip(".")
    assert not list(out.parent.glob("*passwd*"))
    assert all(path.resolve().is_relative_to(out.resolve()) for path in (out / "uploads").rglob("*"))


def test_without_text_the_external_loader_falls_back(client: Client) -> None:
    status, told = put(client, "a.pdf", b"this is no document")
    assert (status, told["error"]) == (422, "No extractable text")
    assert told["advice"]


def test_the_external_loader_needs_bytes_and_a_key(client: Client) -> None:
    assert put(client, "a.pdf", b"")[0] == 400
    assert put(client, "a.pdf", DATA, Authorization="Bearer wrong")[0] == 401
    assert client("/process", DATA, "PUT")[0] == 401
    assert client("/process", **ANN)[0] == 405


# Mistral's files


def test_a_file_is_uploaded_signed_read_and_deleted(client: Client, out: Path) -> None:
    file = uploaded(client)
    assert (file["object"], file["bytes"], file["filename"]) == ("file", len(DATA), "a.pdf")
    url = link(client, file)
    status, told = ocr(client, {"type": "document_url", "document_url": url})
    assert (status, [page["index"] for page in told["pages"]]) == (200, [0, 1, 2, 3])
    assert ocr(client, {"type": "file", "file_id": file["id"]})[0] == 200
    assert client(f"/v1/files/{file['id']}/content", **ANN) == (200, DATA)
    assert [one["id"] for one in client("/v1/files", **ANN)[1]["data"]] == [file["id"]]
    assert client(f"/v1/files/{file['id']}", method="DELETE", **ANN)[1]["deleted"] is True
    assert not list((out / "uploads").glob(".incoming-*"))
    assert ocr(client, {"type": "document_url", "document_url": url})[0] == 404
    assert client(urlsplit(url).path + "?" + urlsplit(url).query)[0] == 404


def test_a_signed_address_leads_to_its_file_alone_and_says_no_key(client: Client) -> None:
    file, other = uploaded(client), uploaded(client, "b.pdf", pdf(["other"]))
    url = urlsplit(link(client, file))
    assert KEY not in url.query and len(url.query) > 43
    with urllib.request.urlopen(client.url + url.path + "?" + url.query, timeout=60) as answer:  # no key
        assert answer.read() == DATA
        assert answer.headers["Content-Disposition"] == "attachment"
        assert answer.headers["Content-Type"] == "application/octet-stream"
    for path in (
        url.path,
        f"/signed-files/{other['id']}?{url.query}",
        f"{url.path}?{url.query.replace('expires=', 'expires=9')}",
        f"{url.path}?{url.query[:-1]}",
        f"{url.path}/..%2F{other['id']}?{url.query}",
    ):
        assert client(path)[0] == 404, path
    for made in (
        f"{client.url}/signed-files/{other['id']}?{url.query}",
        f"http://x/signed-files/{other['id']}",
    ):
        assert ocr(client, {"type": "document_url", "document_url": made})[0] == 404
    assert client(url.path + "?" + url.query, method="DELETE")[0] == 405


def test_one_keys_files_are_not_there_for_another(client: Client) -> None:
    file = uploaded(client)
    for path in ("", "/url", "/content"):
        assert client(f"/v1/files/{file['id']}{path}", **BOB)[0] == 404
        assert client(f"/v1/files/{file['id']}{path}")[0] == 401
    assert client(f"/v1/files/{file['id']}", method="DELETE", **BOB)[0] == 404
    assert ocr(client, {"type": "file", "file_id": file["id"]}, **BOB)[0] == 404
    assert client("/v1/files", **BOB)[1]["data"] == []


def test_an_upload_is_one_file(client: Client) -> None:
    for parts in ({}, {"file": [("a.pdf", DATA), ("b.pdf", DATA)]}, {"file": [("a.pdf", b"")]}):
        body, headers = form(purpose="ocr", **parts)
        assert client("/v1/files", body, **headers, **ANN)[0] in (400, 422)


def test_a_forgotten_file_is_removed_without_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mistral_files, "TIDY_S", 0.05)
    monkeypatch.setattr(kept_files, "KEEP_S", 0.2)
    with Service(tmp_path, fake()) as service, Running(service) as other:
        body, headers = form(file=[("a.pdf", DATA)])
        assert other("/v1/files", body, **headers)[0] == 200
        wait_until(lambda: not list((tmp_path / "uploads").glob(".incoming-*")))


class Kept:
    """A folder of kept files with a clock that a test turns."""

    def __init__(self, folder: Path) -> None:
        self.uploads = UploadFolder(folder)
        self.now = 1_000_000.0
        self.files = KeptFiles(self.uploads.incoming, lambda: self.now)

    def add(self, owner: str = "ann", size: int = 3) -> kept_files.KeptFile:
        with self.incoming() as path:
            return self.files.keep(ReceivedFile(path, "a.pdf", "", size, b"abc"), owner)

    def incoming(self) -> AbstractContextManager[Path]:
        return self.uploads.incoming()

    def on_disk(self) -> int:
        return len(list(self.uploads.path.iterdir()))


def test_addresses_expire_and_files_are_gone_after_a_day(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    file = kept.add()
    address = "http://any.example" + kept.files.address(file, 3600)
    assert kept.files.named_by(address) == file
    kept.now += 3600
    with pytest.raises(HttpRefusal, match="expired"):
        kept.files.named_by(address)
    long = kept.files.address(file, 10_000 * 3600)
    kept.now += KEEP_S
    with pytest.raises(HttpRefusal):
        kept.files.named_by(long)
    assert kept.files.get(file.id) is None
    assert kept.on_disk() == 0


def test_no_other_service_knows_an_address(tmp_path: Path) -> None:
    one, other = Kept(tmp_path), Kept(tmp_path)
    address = one.files.address(one.add(), 3600)
    with pytest.raises(HttpRefusal):
        other.files.named_by(address)
    assert one.files.named_by("https://example.org/a.pdf") is None
    assert one.files.named_by("https://example.org/other/signed-files/a") is None
    assert one.files.named_by("http://[/signed-files/") is None
    assert one.files.named_by("data:application/pdf;base64,/signed-files/?" + "&" * 10_000) is None


def test_a_keys_files_are_bounded_and_the_oldest_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MAX_KEPT", 2)
    kept = Kept(tmp_path)
    first, second = kept.add(), kept.add()
    with pytest.raises(HttpRefusal, match="Too many") as refused:
        kept.add()
    assert refused.value.status == 429
    kept.add("bob")  # has room of his own
    kept.now += MIN_KEEP_S
    third = kept.add()
    assert kept.files.of("ann") == [third, second]
    assert kept.files.get(first.id) is None
    assert kept.on_disk() == 3
    with kept.files:
        pass
    assert kept.on_disk() == 0


def test_a_keys_bytes_are_bounded(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.add(size=kept_files.MAX_KEPT_BYTES + 1)  # one alone may be as long as a document may be
    with pytest.raises(HttpRefusal, match="Too many"):
        kept.add()


# docling, PaddleOCR-VL, MinerU


def test_docling_gets_a_page_break_between_any_two_pages(client: Client) -> None:
    fields = {"md_page_break_placeholder": "\f", "image_export_mode": "placeholder"}
    body, headers = form(files=[("a.pdf", DATA)], **fields)
    status, told = client("/v1/convert/file", body, **headers, **ANN)
    assert status == 200, told
    pages = told["document"]["md_content"].split("\f")
    assert [bool(page.strip()) for page in pages] == [True, True, True, False]  # the fourth page fails
    _, task = client("/v1/convert/file/async", body, **headers, **ANN)
    client(f"/v1/status/poll/{task['task_id']}?wait=60", **ANN)
    later = client(f"/v1/result/{task['task_id']}", **ANN)[1]
    assert later["document"]["md_content"] == told["document"]["md_content"]
    body, headers = form(files=[("a.pdf", DATA)])
    assert "\f" not in client("/v1/convert/file", body, **headers, **ANN)[1]["document"]["md_content"]


def test_docling_refuses_a_page_break_that_would_fill_the_memory(client: Client) -> None:
    body, headers = form(files=[("a.pdf", DATA)], md_page_break_placeholder="x" * 10_000)
    assert client("/v1/convert/file", body, **headers, **ANN)[0] == 422
    source = {"kind": "file", "base64_string": base64.b64encode(DATA).decode(), "filename": "a.pdf"}
    asked = {"sources": [source], "options": {"md_page_break_placeholder": ["x"]}}
    kind = {"Content-Type": "application/json"}
    assert client("/v1/convert/source", json.dumps(asked).encode(), **kind, **ANN)[0] == 422


def test_paddleocr_gets_markdown_and_blocks_for_every_page(client: Client) -> None:
    told = {"file": base64.b64encode(DATA).decode(), "fileType": 0, "useDocUnwarping": False}
    headers = {"Content-Type": "application/json", "Authorization": f"token {KEY}-ann"}
    status, answer = client("/layout-parsing", json.dumps(told).encode(), **headers)
    assert status == 200, answer
    assert (answer["errorCode"], answer["errorMsg"]) == (0, "Success")
    pages = answer["result"]["layoutParsingResults"]
    assert [bool(page["markdown"]["text"]) for page in pages] == [True, True, True, False]
    block = pages[0]["prunedResult"]["parsing_res_list"][0]
    assert set(block) == {"block_label", "block_content", "block_bbox", "block_id", "block_order"}
    assert answer["result"]["dataInfo"]["numPages"] == len(answer["result"]["dataInfo"]["pages"]) == 4
    for wrong, code in (({}, 400), ({"file": "%%"}, 422), ({"file": "file:///etc/passwd"}, 403)):
        assert client("/layout-parsing", json.dumps(wrong).encode(), **headers)[0] == code


RAGFLOW = {
    "output_dir": "./output", "backend": "pipeline", "parse_method": "auto", "return_md": "True",
    "return_middle_json": "True", "return_content_list": "True", "return_images": "True",
    "response_format_zip": "True", "start_page_id": "0", "end_page_id": "99999",
}  # fmt: skip


def basic(name: str) -> dict[str, str]:
    """What HTTP libraries send for http://any:KEY@host."""
    return {"Authorization": "Basic " + base64.b64encode(f"any:{KEY}-{name}".encode()).decode()}


def test_ragflow_gets_the_zip_it_looks_for(client: Client) -> None:
    asked = urllib.request.Request(client.url + "/openapi.json", headers=basic("ann"), method="HEAD")
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert (answer.status, answer.read()) == (200, b"")
    body, headers = form(files=[("보고서.1.pdf", DATA)], **RAGFLOW)
    request = urllib.request.Request(client.url + "/file_parse", body, {**headers, **basic("ann")})
    with urllib.request.urlopen(request, timeout=100) as answer:
        assert answer.headers["Content-Type"] == "application/zip"
        files = zipfile.ZipFile(io.BytesIO(answer.read()))
    assert set(files.namelist()) == {"보고서.1/보고서.1.md", "보고서.1/보고서.1_content_list.json"}
    rows = json.loads(files.read("보고서.1/보고서.1_content_list.json"))
    assert {row["page_idx"] for row in rows} == {0, 1, 2, 3}
    assert all(0 <= value <= 1000 for row in rows for value in row["bbox"])


def test_ragflow_is_given_no_kind_of_row_that_it_does_not_know() -> None:
    """Its parser repeats the paragraph before such a row."""
    rows = [{"type": kind, "text": "x"} for kind in ("text", "header", "page_number", "aside_text")]
    told = discarding_margins({"md_content": "x", "content_list": json.dumps(rows)})
    kinds = [row["type"] for row in json.loads(told["content_list"])]
    assert kinds == ["text", "discarded", "discarded", "discarded"]


def test_a_task_of_minerus_is_answered_as_it_was_asked_for(client: Client) -> None:
    body, headers = form(files=[("a.pdf", DATA)], response_format_zip="true", return_md="true")
    _, task = client("/tasks", body, **headers, **ANN)
    wait_until(lambda: client(task["status_url"], **ANN)[1]["status"] == "completed")
    _, data = client(task["result_url"], **ANN)
    assert set(zipfile.ZipFile(io.BytesIO(data)).namelist()) == {"a/a.md", "a/a_content_list.json"}


def test_two_documents_of_one_name_are_both_in_minerus_answer(client: Client) -> None:
    body, headers = form(files=[("a.pdf", pdf(["one"])), ("a.PDF", pdf(["two"]))])
    status, told = client("/file_parse", body, **headers, **ANN)
    assert (status, len(told["results"])) == (200, 2), told


@pytest.mark.parametrize("key", [f"any:{KEY}-eve", KEY, ":", ""])
def test_a_wrong_key_in_an_address_is_no_key(client: Client, key: str) -> None:
    encoded = base64.b64encode(key.encode()).decode()
    assert client("/v1/jobs", Authorization=f"Basic {encoded}")[0] == 401
    assert client("/v1/jobs", Authorization=f"token {key}")[0] == 401
    assert client("/v1/jobs", Authorization="Basic %%")[0] == 401
