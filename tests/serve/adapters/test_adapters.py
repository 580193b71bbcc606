"""Other projects' clients: their documented requests, and what their clients read of the answers.

The requests follow the public descriptions of GLM-OCR's server, docling-serve 1, Mistral's OCR and MinerU 3.
"""

from __future__ import annotations

import base64
import io
import json
import urllib.request
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.passes.parse import ParseOptions
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.testing import FAKE
from tests.serve.jobs.test_jobs import form
from tests.support.running_service import SAMPLE, Client, Running
from tests.support.waiting import wait_until

BASE64 = base64.b64encode(SAMPLE.read_bytes()).decode()
DATA_URI = f"data:application/pdf;base64,{BASE64}"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    reading = ParseOptions(inputs=(), recipe=FAKE)
    out = tmp_path_factory.mktemp("out")
    with Service(out, fake(fails=(3,))) as service, Running(service, reading=reading) as client:
        yield client


def asked(client: Client, path: str, told: Any) -> tuple[int, Any]:
    return client(path, json.dumps(told).encode(), **{"Content-Type": "application/json"})


def test_glm_ocr_gets_its_rows_and_markdown(client: Client) -> None:
    status, told = asked(client, "/glmocr/parse", {"images": [DATA_URI]})
    assert status == 200, told
    assert len(told["json_result"]) == 4
    first = told["json_result"][0][0]
    assert set(first) >= {"index", "label", "content", "bbox_2d"}
    assert all(0 <= value <= 1000 for value in first["bbox_2d"])
    assert told["json_result"][3] == []  # the page that failed keeps its place
    assert first["content"] in told["markdown_result"]
    body, headers = form(files=[("a.pdf", pdf(["a"])), ("b.pdf", pdf(["b"]))])
    status, both = client("/glmocr/parse", body, **headers)
    assert (status, len(both["json_result"]), "\n\n---\n\n" in both["markdown_result"]) == (200, 2, True)


@pytest.mark.slow  # a run of its own loads everything again
def test_hosted_glm_ocr_takes_bare_base64_and_a_span_of_pages(client: Client) -> None:
    wish = {"model": "glm-ocr", "file": BASE64, "start_page_id": 2, "end_page_id": 3, "request_id": "r1"}
    status, told = asked(client, "/api/paas/v4/layout_parsing", wish)
    assert status == 200, told
    assert (told["request_id"], told["model"], len(told["layout_details"])) == ("r1", "glm-ocr", 2)
    assert told["data_info"]["num_pages"] == len(told["data_info"]["pages"]) == 2
    assert {"width", "height", "bbox_2d"} <= set(told["layout_details"][0][0])
    assert told["md_results"]


@pytest.mark.parametrize(
    ("path", "told", "status"),
    [
        ("/glmocr/parse", {}, 400),
        ("/glmocr/parse", {"images": ["file:///etc/passwd"]}, 403),
        ("/glmocr/parse", {"images": ["https://example.org/a.pdf"]}, 403),
        ("/v1/ocr", {"document": {"type": "file", "file_id": "x"}}, 404),
        ("/v1/ocr", {"document": {"type": "document_url"}}, 422),
        ("/v1/ocr", {"document": {"type": "document_url", "document_url": DATA_URI}, "pages": "x"}, 422),
        ("/v1/convert/source", {"sources": [{"kind": "s3", "bucket": "b"}]}, 422),
        ("/v1/convert/source", {"sources": []}, 400),
    ],
)
def test_what_they_could_take_and_we_do_not_is_a_sentence(
    client: Client, path: str, told: Any, status: int
) -> None:
    code, answer = asked(client, path, told)
    assert (code, bool(answer["error"])) == (status, True)


def test_mistral_gets_pages_from_nought(client: Client) -> None:
    wish = {
        "model": "mistral-ocr-latest",
        "document": {"type": "document_url", "document_url": DATA_URI, "document_name": "a.pdf"},
        "pages": [0, 2],
        "include_blocks": True,
        "include_image_base64": True,
        "confidence_scores_granularity": "page",
    }
    status, told = asked(client, "/v1/ocr", wish)
    assert status == 200, told
    assert [page["index"] for page in told["pages"]] == [0, 2]
    assert told["usage_info"] == {"pages_processed": 2, "doc_size_bytes": SAMPLE.stat().st_size}
    page = told["pages"][0]
    assert set(page) >= {"index", "markdown", "images", "dimensions", "tables", "hyperlinks", "blocks"}
    assert page["dimensions"]["width"] > 0 and page["dimensions"]["dpi"] == 36
    assert [block["type"] for block in page["blocks"]] == ["title", "text"]
    assert page["blocks"][0]["top_left_x"] < page["blocks"][0]["bottom_right_x"]
    image = {"type": "image_url", "image_url": {"url": DATA_URI}}
    assert len(asked(client, "/v1/ocr", {"document": image})[1]["pages"]) == 4


def test_docling_serve_gets_its_document(client: Client) -> None:
    wish = {
        "options": {"to_formats": ["md", "json", "text"], "do_ocr": True, "image_export_mode": "placeholder"},
        "sources": [{"kind": "file", "base64_string": BASE64, "filename": "report.pdf"}],
        "target": {"kind": "inbody"},
    }
    status, told = asked(client, "/v1/convert/source", wish)
    assert status == 200, told
    assert (told["status"], told["document"]["filename"]) == ("partial_success", "report.pdf")
    assert "page 4" in told["errors"][0]["error_message"]
    assert told["document"]["json_content"]["schema_name"] == "DoclingDocument"
    assert told["document"]["md_content"] and told["document"]["text_content"]
    assert told["document"]["html_content"] is None
    older = {"file_sources": [{"base64_string": BASE64, "filename": "old.pdf"}]}
    assert asked(client, "/v1/convert/source", older)[1]["document"]["filename"] == "old.pdf"


def test_docling_serve_refuses_a_target_in_words_that_its_client_understands(client: Client) -> None:
    """The client asks for presigned addresses first, and for the answer itself after this refusal."""
    sources = [{"kind": "file", "base64_string": BASE64, "filename": "a.pdf"}]
    wish = {"sources": sources, "target": {"kind": "presigned_url"}}
    status, told = asked(client, "/v1/convert/source/async", wish)
    assert (status, told["detail"]) == (422, told["error"])
    assert all(words in told["detail"] for words in ("presigned_url", "input should be"))
    body, headers = form(files=[("a.pdf", pdf(["a"]))], target_type="presigned_url")
    assert client("/v1/convert/file/async", body, **headers)[0] == 422


@pytest.mark.slow
def test_docling_serve_takes_forms_and_tasks(client: Client) -> None:
    body, headers = form(files=[("a.pdf", pdf(["a"]))], to_formats="html")
    status, told = client("/v1/convert/file", body, **headers)
    assert (status, told["document"]["md_content"]) == (200, None)
    assert "<html" in told["document"]["html_content"]
    _, task = client("/v1/convert/file/async", body, **headers)
    assert task["task_status"] in ("pending", "started", "success")
    poll = f"/v1/status/poll/{task['task_id']}"
    assert client(f"{poll}?wait=60")[1]["task_status"] == "success"
    assert client(f"/v1/result/{task['task_id']}")[1]["document"]["md_content"]
    body, headers = form(files=[("a.pdf", pdf(["a"])), ("b.pdf", pdf(["b"]))])
    request = urllib.request.Request(client.url + "/v1/convert/file", body, headers)
    with urllib.request.urlopen(request, timeout=100) as answer:
        assert answer.headers["Content-Type"] == "application/zip"
        names = zipfile.ZipFile(io.BytesIO(answer.read())).namelist()
    assert {"markdown/a.md", "markdown/b.md"} <= set(names)
    assert (client("/ready")[1], client("/version")[0]) == ({"status": "ok"}, 200)


@pytest.mark.slow  # a run of its own loads everything again
def test_mineru_gets_results_by_the_files_names(client: Client) -> None:
    fields = {
        "return_md": "true",
        "return_content_list": "true",
        "return_images": "true",
        "lang_list": "korean",
    }
    body, headers = form(
        files=[("report.pdf", SAMPLE.read_bytes())], start_page_id="0", end_page_id="1", **fields
    )
    status, told = client("/file_parse", body, **headers)
    assert status == 200, told
    assert set(told) == {"backend", "version", "results"}
    one = told["results"]["report"]
    assert one["md_content"]
    assert {row["page_idx"] for row in json.loads(one["content_list"])} == {0, 1}
    assert isinstance(one["images"], dict)
    body, headers = form(files=[("report.pdf", SAMPLE.read_bytes())], end_page_id="99999")
    status, task = client("/tasks", body, **headers)
    assert (status, task["file_names"]) == (202, ["report.pdf"])
    wait_until(lambda: client(task["status_url"])[1]["status"] == "completed")
    assert client(task["result_url"])[1]["results"]["report"]["md_content"]
