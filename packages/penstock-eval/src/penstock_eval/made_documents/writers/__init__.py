"""One file for each family of formats: a tree in, the bytes of a file out."""

from __future__ import annotations

from collections.abc import Callable

from penstock_eval.made_documents.tree import MadeDocument
from penstock_eval.made_documents.writers.docx import docx
from penstock_eval.made_documents.writers.hwpx import hwpx
from penstock_eval.made_documents.writers.odf import open_document
from penstock_eval.made_documents.writers.pptx import pptx
from penstock_eval.made_documents.writers.rtf import rtf
from penstock_eval.made_documents.writers.web import epub, html_page
from penstock_eval.made_documents.writers.xlsx import xlsx

WRITERS: dict[str, Callable[[MadeDocument], bytes]] = {
    "docx": docx, "epub": epub, "html": html_page, "pptx": pptx, "xlsx": xlsx,
    "odt": open_document, "ods": open_document, "odp": open_document,
    "hwpx": hwpx, "rtf": rtf,
}  # fmt: skip
