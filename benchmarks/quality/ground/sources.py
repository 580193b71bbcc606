"""All sources by name: where a folder of that name lies in the data, how its pages are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.quality.ground import markdown_truth, table_truth, value_truth, xml_truth
from benchmarks.quality.ground.sample import Sample

Lister = Callable[[Path, str], Iterator[Sample]]

SOURCES: dict[str, Lister] = {
    "debian_multilang": markdown_truth.born_digital,
    "jose_papers": markdown_truth.born_digital,
    "rendered_korean": markdown_truth.born_digital,
    "rendered_multilang": markdown_truth.born_digital,
    "markitdown_pdfs": markdown_truth.whole_files,
    "pdf_parse_bench": table_truth.made_pages,
    "latexml_math": xml_truth.latexml,
    "texlive_journal_designs": value_truth.tex_sources,
    "texlive_language_samples": value_truth.tex_sources,
    "awesome_cv": value_truth.tex_sources,
    "camelot_tables": table_truth.csv_tables,
    "tabula_tables": table_truth.csv_tables,
    "zugferd_invoices": value_truth.zugferd,
    "invoice2data": value_truth.invoices,
    "acroform_forms": value_truth.forms,
    "debian_refcards": value_truth.refcards,
    "degraded_korean": markdown_truth.degraded,
    "turned": markdown_truth.turned,
    "austrian_newspapers": xml_truth.page_xml,
    "ocrd_gt_structure_text": xml_truth.page_xml,
    "ehri_typewritten": xml_truth.alto,
    "tapuscorpus_typewritten_fr": xml_truth.alto,
    "cremma_handwriting_fr": xml_truth.alto,
    "docbank_papers": xml_truth.tokens,
    "publaynet_examples": xml_truth.coco,
    "ndl_docl_japanese": xml_truth.voc,
    "receipts_de": value_truth.receipts,
    "im2markup_formulas": value_truth.formula_crops,
}


def listed(data: Path, source: str) -> list[Sample]:
    """Returns every page of a source; none where its folder is not there."""
    return list(SOURCES[source](data, source)) if source == "turned" or (data / source).is_dir() else []
