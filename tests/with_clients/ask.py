"""Asks a service with another project's client, in the environment that has it.

    python ask.py mistral URL FILE

Prints JSON: the Markdown, how many pages there are, and what else the client made of the answer.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

KEY = "any"  # most of them want one before they ask


def mistral(url: str, file: Path) -> dict[str, Any]:
    from mistralai.client import Mistral

    with Mistral(api_key=KEY, server_url=url) as client:
        document = {"type": "document_url", "document_url": _data_uri(file)}
        answer = client.ocr.process(
            model="mistral-ocr-latest", document=document, include_image_base64=True, pages=[0, 1, 2, 3]
        )
    images = [image for page in answer.pages for image in page.images]
    return {
        "markdown": "\n\n".join(page.markdown for page in answer.pages),
        "pages": answer.usage_info.pages_processed,
        "images": [bool(image.image_base64) for image in images],
        "sizes": [[page.dimensions.width, page.dimensions.height] for page in answer.pages],
    }


def docling(url: str, file: Path) -> dict[str, Any]:
    from docling.service_client import DoclingServiceClient

    with DoclingServiceClient(url=url, api_key=KEY) as client:
        result = client.convert(source=str(file))
    document = result.document
    return {
        "markdown": document.export_to_markdown(),
        "pages": len(document.pages),
        "status": result.status.value,
        "tables": len(document.tables),
    }


def docling_polling(url: str, file: Path) -> dict[str, Any]:
    from docling.service_client import DoclingServiceClient, StatusWatcherKind

    with DoclingServiceClient(url=url, api_key=KEY, status_watcher=StatusWatcherKind.POLLING) as client:
        job = client.submit(source=str(file))
        result = job.result(timeout=300)
    return {"markdown": result.document.export_to_markdown(), "pages": len(result.document.pages)}


def docling_serve_client(url: str, file: Path) -> dict[str, Any]:
    from docling_serve_sdk import ConvertDocumentsRequestOptions, DoclingClient, OutputFormat

    options = ConvertDocumentsRequestOptions(to_formats=[OutputFormat.MD, OutputFormat.JSON])
    with DoclingClient(url) as client:
        health = client.health_check().status
        at_once = client.convert_file(str(file), options=options)
        task = client.convert_file_async_task(str(file), options=options)
        client.wait_for_task(task.task_id, poll_interval=0.2)
        later = client.task_result(task.task_id)
    assert later["document"]["md_content"] == at_once.document.md_content
    return {
        "markdown": at_once.document.md_content,
        "pages": len(at_once.document.json_content["pages"]),
        "status": at_once.status,
        "health": health,
    }


def glmocr(url: str, file: Path) -> dict[str, Any]:
    from glmocr import GlmOcr

    with GlmOcr(mode="maas", api_key=KEY, api_url=f"{url}/api/paas/v4/layout_parsing") as client:
        result = client.parse(str(file))
    return {
        "markdown": result.markdown_result,
        "pages": len(result.json_result),
        "labels": sorted({region["label"] for page in result.json_result for region in page}),
    }


def zai(url: str, file: Path) -> dict[str, Any]:
    from zai import ZaiClient

    with ZaiClient(api_key=KEY, base_url=f"{url}/api/paas/v4") as client:
        answer = client.layout_parsing.create(model="glm-ocr", file=_data_uri(file))
    return {
        "markdown": answer.md_results,
        "pages": answer.data_info.num_pages,
        "labels": sorted({region.label for page in answer.layout_details for region in page}),
    }


def _data_uri(file: Path) -> str:
    return "data:application/pdf;base64," + base64.b64encode(file.read_bytes()).decode()


if __name__ == "__main__":
    way, address, path = sys.argv[1:]
    print(json.dumps(globals()[way](address, Path(path))))
