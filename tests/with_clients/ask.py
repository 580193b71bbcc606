"""Asks a service with another project's client, in the environment that has it.

    python ask.py mistral URL FILE

Prints JSON: the Markdown, how many pages there are, and what else the client made of the answer.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

KEY = "pk_of-the-tests"
OPEN_WEBUI_LOADERS = (
    "datalab_marker", "external_document", "local", "mineru", "mistral", "paddleocr_vl", "pdf",
)  # fmt: skip


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


def mistral_files(url: str, file: Path) -> dict[str, Any]:
    from mistralai.client import Mistral

    with Mistral(api_key=KEY, server_url=url) as client:
        kept = client.files.upload(file={"file_name": file.name, "content": file.read_bytes()}, purpose="ocr")
        signed = client.files.get_signed_url(file_id=kept.id, expiry=1)
        answers = [
            client.ocr.process(model="mistral-ocr-latest", document=document)
            for document in (
                {"type": "document_url", "document_url": signed.url},
                {"type": "file", "file_id": kept.id},
            )
        ]
        listed = [one.id for one in client.files.list().data]
        deleted = client.files.delete(file_id=kept.id).deleted
    first, second = ("\n\n".join(page.markdown for page in answer.pages) for answer in answers)
    assert first == second
    assert (listed, deleted, kept.size_bytes) == ([kept.id], True, file.stat().st_size)
    return {"markdown": first, "pages": answers[0].usage_info.pages_processed}


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
    with DoclingClient(url, api_key=KEY) as client:
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


def open_webui_external(url: str, file: Path) -> dict[str, Any]:
    loaders = _open_webui("external_document")
    loader = loaders.ExternalDocumentLoader(
        file_path=str(file), url=url, api_key=KEY, mime_type="application/pdf"
    )
    return _pages_told(loader.load())


def open_webui_docling(url: str, file: Path) -> dict[str, Any]:
    loader = _open_webui("main").DoclingLoader(
        url, api_key=KEY, file_path=str(file), mime_type="application/pdf"
    )
    return _pages_told(loader.load())


def open_webui_mistral(url: str, file: Path) -> dict[str, Any]:
    loader = _open_webui("mistral").MistralLoader(base_url=f"{url}/v1", api_key=KEY, file_path=str(file))
    return _pages_told(loader.load())


def open_webui_paddleocr(url: str, file: Path) -> dict[str, Any]:
    loader = _open_webui("paddleocr_vl").PaddleOCRVLLoader(api_url=url, token=KEY, file_path=str(file))
    return _pages_told(loader.load())


def open_webui_mineru(url: str, file: Path) -> dict[str, Any]:
    loader = _open_webui("mineru").MinerULoader(str(file), api_url=_with_key(url))
    [document] = loader.load()
    assert document.metadata["backend"] == "penstock"
    return {"markdown": document.page_content, "pages": 4}  # it gets no pages of MinerU's local service


def ragflow(url: str, file: Path) -> dict[str, Any]:
    parser = _ragflow().MinerUParser(mineru_api=_with_key(url))
    is_there, reason = parser.check_installation()
    assert is_there, reason
    sections, _ = parser.parse_pdf(file, file.read_bytes(), parse_method="manual")
    places = [place for *_, tag in sections for place in parser.extract_positions(tag)]
    return {
        "markdown": "# " + "\n\n".join(section[0] for section in sections),
        "pages": len({page for pages, *_ in places for page in pages}),
        "sizes": [image.size for image in parser.page_images],
        "places": places,
        "kinds": sorted({section[1] for section in sections}),
    }


def _pages_told(documents: list[Any]) -> dict[str, Any]:
    assert [document.metadata["page"] for document in documents] == list(range(len(documents)))
    return {
        "markdown": "\n\n".join(document.page_content for document in documents),
        "pages": len(documents),
    }


def _with_key(url: str) -> str:
    """Returns an address for clients that send no key of their own."""
    return url.replace("://", f"://any:{KEY}@")


class Absent(ModuleType):
    """Stands for a module that a loader imports and that is not asked here."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return {"GLOBAL_LOG_LEVEL": "WARNING", "RAGFlowPdfParser": object}.get(name, _nothing)


def _nothing(*_: Any, **__: Any) -> dict[str, Any]:
    return {}


def _open_webui(name: str) -> ModuleType:
    """Loads one file of Open WebUI's loaders. The rest of it is a web application with a database."""
    for absent in (
        "azure.identity", "ftfy", "open_webui", "open_webui.config", "open_webui.env", "open_webui.retrieval",
        "open_webui.retrieval.loaders", "open_webui.utils", "open_webui.utils.headers",
        "open_webui.utils.json_codec",
        *(f"open_webui.retrieval.loaders.{other}" for other in OPEN_WEBUI_LOADERS),
    ):  # fmt: skip
        sys.modules.setdefault(absent, Absent(absent))
    return _loaded("open_webui", f"retrieval/loaders/{name}.py")


def _ragflow() -> ModuleType:
    """Loads RAGFlow's parser file. What it inherits from reads PDFs with models, which are not asked here."""
    for absent in ("deepdoc", "deepdoc.parser", "deepdoc.parser.pdf_parser"):
        sys.modules[absent] = Absent(absent)
    return _loaded("deepdoc", "parser/mineru_parser.py")


def _loaded(package: str, path: str) -> ModuleType:
    home = Path(sysconfig.get_path("purelib")) / package / path
    spec = importlib.util.spec_from_file_location(f"loaded_{home.stem}", home)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def _data_uri(file: Path) -> str:
    return "data:application/pdf;base64," + base64.b64encode(file.read_bytes()).decode()


if __name__ == "__main__":
    way, address, path = sys.argv[1:]
    print(json.dumps(globals()[way](address, Path(path))))
