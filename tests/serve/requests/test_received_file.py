"""Files that cannot be documents are refused when they are sent; damaged ones are taken and fail."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.running_service import SAMPLE, Client, Running


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sniffed") / "out"


@pytest.fixture(scope="module")
def client(out: Path) -> Iterator[Client]:
    plan = fake()
    with Service(out, plan) as service, Running(service, reading=ParseOptions(inputs=(), recipe=plan)) as one:
        yield one


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("notes.py", b"Dear all,", "kind that Penstock reads"),
        ("report.pdf", b"\x7fELF" + b"\0" * 3000, "PDF file"),
        ("page.log", b"<p>This is %PDF-1.7 in words</p>", "though it mentions one"),
        ("big.bin", b"\0" * (1 << 20), "kind that Penstock reads"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/documents?name=", "/v1/parse?name=", "/v1/parse?max_pages=1&name="])
def test_what_is_no_document_is_not_taken(
    client: Client, out: Path, path: str, name: str, data: bytes, said: str
) -> None:
    before = client("/v1/jobs")[1]
    status, answer = client(path + name, data)
    assert (status, name in answer["error"], said in answer["error"]) == (415, True, True), answer
    assert "PDF, PNG, JPEG" in answer["advice"]
    assert client("/v1/jobs")[1] == before
    assert not list(out.glob(f"**/{name}"))


def packed(name: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz" if name.endswith("gz") else "w") as archive:
        archive.add(SAMPLE, "report.pdf")
    return file.getvalue()


@pytest.mark.parametrize("name", ["shard.tar", "shard.tar.gz", "shard.pdf"])
def test_an_archive_is_not_one_document_and_the_service_goes_on(client: Client, name: str) -> None:
    status, answer = client("/v1/documents?name=" + name, packed(name))
    assert (status, answer["advice"]) == (415, "Send it to /v1/parse."), answer
    assert client("/health")[0] == 200


@pytest.mark.parametrize("name", ["shard.tar", "shard.tar.gz"])
def test_what_an_archive_holds_is_read_as_documents_of_their_own(client: Client, name: str) -> None:
    status, answer = client(f"/v1/parse?wait=60&name={name}", packed(name))
    assert status == 200, answer
    assert [one["name"] for one in answer["documents"]] == [f"{name}/report.pdf"]


@pytest.mark.parametrize("options", ["", "&max_pages=1"])
def test_a_damaged_document_is_taken_and_its_job_says_what_is_wrong(
    client: Client, out: Path, options: str
) -> None:
    status, job = client(f"/v1/parse?name=cut.pdf{options}", SAMPLE.read_bytes()[:100])
    assert status == 202
    told = client(f"/v1/jobs/{job['id']}?wait=60")[1]
    assert (told["state"], "cut.pdf" in told["error"]) == ("failed", True), told
    everything = [told, client(f"/v1/jobs/{job['id']}/result"), client("/v1/failures"), client("/v1/run")]
    assert str(out.parent) not in str(everything)
