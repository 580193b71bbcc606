"""The real service takes Office files, HWPX, mail and RTF, with boxes where it was asked for them."""

from __future__ import annotations

import base64
import json
import zipfile
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.cli.app import app
from penstock.client.connection import ServiceError
from penstock.engines.rendering.font_names import add_korean_font
from penstock.passes.parse import ParseOptions
from penstock.recipes.documents import documents
from penstock.serve.reading.service import Service
from tests.engines.office import made_files
from tests.support.made_hwpx import MadeCell, made_hwpx
from tests.support.running_service import Running

pytestmark = pytest.mark.slow
HWPX = made_hwpx(
    [
        "# 분기 보고서",
        "낱말마다 자리가 있다.",
        [MadeCell(0, 0, "구분", 2), MadeCell(1, 0, "서울"), MadeCell(1, 1, "1,200")],
    ]
)
RTF = rb"{\rtf1\ansi\pard\b Rain\b0\par}"


def test_a_service_reads_every_kind_and_a_job_may_ask_for_boxes(tmp_path: Path) -> None:
    if find_spec("rhwp") is None or not add_korean_font(tmp_path / "home"):
        pytest.skip("needs the extra hwp, a Korean font and fc-list")
    sent = {
        "a.hwpx": HWPX, "a.pptx": made_files.pptx(), "a.xlsx": made_files.xlsx(), "a.odt": made_files.odt(),
        "a.epub": made_files.epub(), "a.eml": made_files.EML, "a.rtf": RTF,
    }  # fmt: skip
    reading = ParseOptions(inputs=())
    with Service(tmp_path / "out", documents()) as service, Running(service, reading=reading) as client:
        names = {name: client.send(name, data)["name"] for name, data in sent.items()}
        for name in names.values():
            assert client.wait(name)["failed"] == 0
        status, told = client("/v1/parse?name=b.hwpx&office=both&wait=60", HWPX)
        assert status == 200
        regions = told["documents"][0]["pages"][0]["regions"]
        assert [region["content"] for region in regions[:2]] == ["분기 보고서", "낱말마다 자리가 있다."]
        assert all(region["bbox_2d"] != [0, 0, 1000, 1000] for region in regions)


def test_shell_service_and_client_read_the_same_documents_of_archives_and_mails(tmp_path: Path) -> None:
    archive, mail = tmp_path / "a.zip", tmp_path / "m.eml"
    with zipfile.ZipFile(archive, "w") as package:
        package.writestr("b/sheet.xlsx", made_files.xlsx())
        package.writestr("page.rtf", RTF)
        package.writestr("broken.docx", made_files.odt()[:200])
    message = EmailMessage()
    message.set_content("Rain.")
    message.add_attachment(RTF, maintype="application", subtype="rtf", filename="inner.rtf")
    mail.write_bytes(message.as_bytes())
    inputs = [str(archive), str(mail)]
    shell = {
        (page.document, page.part): page.markdown if page.failure is None else None
        for page in penstock.parse(inputs, out=tmp_path / "shell")
    }
    assert {name for name, _ in shell} == {
        "a.zip/b/sheet.xlsx", "a.zip/page.rtf", "a.zip/broken.docx", "m.eml", "m.eml/inner.rtf",
    }  # fmt: skip
    assert shell["a.zip/broken.docx", 0] is None
    with (
        Service(tmp_path / "out", documents()) as service,
        Running(service, reading=ParseOptions(inputs=())) as running,
    ):
        client = penstock.Client(running.url)
        told = {
            (page.document, page.part): page.markdown if page.failure is None else None
            for document in client.parse(inputs)
            for page in document.pages
        }
        assert told == shell
        with pytest.raises(ServiceError, match="several documents"):
            client.markdown(str(archive))
        command = ["parse", *inputs, "-o", str(tmp_path / "remote"), "--service", running.url]
        assert CliRunner().invoke(app, command).exit_code == 1  # a document failed, as in the shell
        sent = base64.b64encode(archive.read_bytes()).decode()
        asked = {"document": {"document_url": f"data:application/zip;base64,{sent}"}}
        status, answer = running(
            "/v1/ocr", json.dumps(asked).encode(), **{"Content-Type": "application/json"}
        )
        assert status == 422 and "holds 3 documents" in str(answer), answer
    rows = map(json.loads, (tmp_path / "remote" / "ocr_results.jsonl").read_text("utf-8").splitlines())
    far = {(row["document"], row["page_idx"]): row["markdown"] for row in rows}
    assert far == {key: text or "" for key, text in shell.items()}


def test_a_service_that_prints_gives_boxes_to_all(tmp_path: Path) -> None:
    if find_spec("rhwp") is None or not add_korean_font(tmp_path / "home"):
        pytest.skip("needs the extra hwp, a Korean font and fc-list")
    with Service(tmp_path / "out", documents(office="both")) as service, Running(service) as client:
        name = client.send("a.hwpx", HWPX)["name"]
        assert client.wait(name)["failed"] == 0
        [item] = [entry for entry in service.documents() if entry.name == name]
        assert item.done == 1
    assert list((tmp_path / "out" / "downloads" / "printed").glob("*.pdf"))
