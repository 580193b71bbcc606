"""Claims about rules: labels of four languages, values beside and below them, rows of tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from penstock.addresses.locator import Locator
from penstock.documents.fields.extraction import Extraction
from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.read import by_rules, with_answer
from penstock.documents.fields.schema import FieldSchema
from penstock.exports.located import located
from penstock.page import Page
from penstock.region import FormField, Line, Region

TYPES: dict[str, dict[str, Any]] = {
    "invoice_number": {"type": "string"},
    "invoice_date": {"type": "string", "format": "date"},
    "due_date": {"type": "string", "format": "date"},
    "total": {"type": "number"},
    "net_total": {"type": "number"},
    "tax_amount": {"type": "number"},
    "currency": {"type": "string"},
}
LINES = {
    "type": "array",
    "items": {
        "properties": {
            "description": {"type": "string"},
            "quantity": {"type": "integer"},
            "unit_price": {"type": "number"},
            "line_total": {"type": "number"},
        }
    },
}


def schema_of(**more: Any) -> FieldSchema:
    return FieldSchema.parse("s", json.dumps({"properties": {**TYPES, **more}}))


def page_of(rows: Sequence[str | Sequence[str]], table: str = "") -> Page:
    """A page whose rows stand one under the other; a row of several texts stands in columns."""
    regions = []
    for number, row in enumerate(rows):
        for column, text in enumerate([row] if isinstance(row, str) else row):
            x = 100 + 350 * column
            box = (x, 50 * number, x + 12 * len(text), 50 * number + 30)
            regions.append(
                Region(
                    label="text", box=box, index=len(regions), lines=(Line(text=text, box=box),), content=text
                )
            )
    if table:
        regions.append(Region(label="table", box=(0, 1500, 900, 1800), index=len(regions), content=table))
    return Page(id="p", uri="a.pdf", document="a.pdf", width=1000, height=2000, regions=tuple(regions))


def read(page: Page, schema: FieldSchema | None = None) -> Extraction:
    return by_rules(schema or schema_of(), DocumentText.of([page]))


GERMAN = [
    "Handelsrechnung Nr. 471102 vom 05.03.2018", ["Währung:", "EUR"], "Zahlbar bis 04.04.2018",
    "Rechnungssumme Netto (excl. USt.) 1.473,00", "Summe Umsatzsteuer 279,87",
    "Rechnungssumme Brutto (inkl. USt.) 1.752,87",
]  # fmt: skip
FRENCH = [
    "Facture FA-2017-0010", ["Date de facture", "13/11/2017"], ["Date d'échéance", "13/12/2017"],
    ["Total HT", "1 624,90 €"], ["Total taxes", "46,25 €"], ["Total TTC", "1 671,15 €"],
]  # fmt: skip
ENGLISH = [
    "Invoice INV/2023/03/0008", ["Invoice Date:", "Due Date:"], ["March 20, 2023", "04/14/2023"],
    ["Subtotal", "$ 1,262.90"], ["Tax 15% on $ 112.90", "$ 16.94"], ["Total", "$ 1,279.84"],
]  # fmt: skip
KOREAN = [
    "청구서 번호: A-2024-17", "작성 일자 2024년 3월 5일", "납부 기한: 2024-03-31",
    ["공급가액", "1,200,000원"], ["부가세", "120,000원"], ["합 계 금 액", "1,320,000원"],
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        (GERMAN, ["471102", "2018-03-05", "2018-04-04", 1752.87, 1473.0, 279.87, "EUR"]),
        (FRENCH, ["FA-2017-0010", "2017-11-13", "2017-12-13", 1671.15, 1624.9, 46.25, "EUR"]),
        (ENGLISH, ["INV/2023/03/0008", "2023-03-20", "2023-04-14", 1279.84, 1262.9, 16.94, "USD"]),
        (KOREAN, ["A-2024-17", "2024-03-05", "2024-03-31", 1320000, 1200000, 120000, "KRW"]),
    ],
    ids=["de", "fr", "en", "ko"],
)
def test_a_bill_is_read_in_its_language(rows: list[str | list[str]], values: list[Any]) -> None:
    found = read(page_of(rows))
    assert list(found.values.values()) == values
    assert found.missing == ()


def test_every_value_leads_to_the_place_that_says_it() -> None:
    page = page_of(GERMAN)
    for field in read(page).fields:
        [address] = field.locators
        assert field.text in located(page, Locator.parse(address)).text


def test_what_a_page_does_not_say_stays_null() -> None:
    found = read(page_of(["A letter about the weather.", "It rained for 12 days in 2023."]))
    assert set(found.values.values()) == {None}
    assert found.fields == () and len(found.missing) == len(TYPES)


TABLE = (
    "<table><tr><td>Pos</td><td>Bezeichnung</td><td>Menge</td><td>Einzelpreis</td><td>Gesamtpreis</td></tr>"
    "<tr><td>1</td><td>Trennblätter A4</td><td>20</td><td>9,90</td><td>198,00</td></tr>"
    "<tr><td>2</td><td>Joghurt</td><td>50</td><td>5,50</td><td>275,00</td></tr>"
    "<tr><td>Summe</td><td></td><td></td><td></td><td>473,00</td></tr></table>"
)


def test_rows_of_a_table_are_objects_and_each_value_leads_to_its_cell() -> None:
    page = page_of(["Rechnung 17"], TABLE)
    found = read(page, schema_of(lines=LINES))
    assert found.values["lines"] == [
        {"description": "Trennblätter A4", "quantity": 20, "unit_price": 9.9, "line_total": 198.0},
        {"description": "Joghurt", "quantity": 50, "unit_price": 5.5, "line_total": 275.0},
    ]
    proof = next(field for field in found.fields if field.path == "/lines/1/line_total")
    assert proof.locators == ("penstock:a.pdf/p1/r1/c2.4",) and proof.by == "table"
    assert located(page, Locator.parse(proof.locators[0])).text == "275,00"


def test_lines_without_cells_are_found_by_their_products() -> None:
    rows = ["1 TB100A4 Trennblätter A4 20 Stk. 9,90 198,00 19", "Nougat 250g 20 Unit(s) 4,55 € 10% 81,90 €"]
    found = read(page_of([*rows, "Summe 279,90"]), schema_of(lines=LINES))
    assert [line["line_total"] for line in found.values["lines"]] == [198.0, 81.9]
    assert [line["quantity"] for line in found.values["lines"]] == [20, 20]


def test_a_pattern_that_makes_other_engines_hang_is_matched_at_once() -> None:
    schema = schema_of(code={"type": "string", "pattern": "^(a+)+$"})
    assert read(page_of(["code: " + "a" * 5_000 + "!"]), schema).values["code"] is None
    assert read(page_of(["code: aaaa"]), schema).values["code"] == "aaaa"


def test_a_choice_is_one_of_the_schemas_own() -> None:
    schema = schema_of(status={"enum": ["paid", "open"]})
    assert read(page_of(["Status: PAID"]), schema).values["status"] == "paid"
    assert read(page_of(["Status: unpaid"]), schema).values["status"] is None


# what a model says


def answered(rows: Sequence[str], **answer: Any) -> Extraction:
    schema = schema_of(lines=LINES, buyer={"type": "string"}, quantity={"type": "integer"})
    return with_answer(schema, DocumentText.of([page_of(rows)]), answer, "m")


def test_a_value_that_no_page_holds_is_refused_and_never_given() -> None:
    found = answered(["Rechnung 17", "Betrag 473,00"], total=529.87, buyer="Acme Corp", due_date="2031-01-01")
    assert {(one.path, one.reason) for one in found.refused} == {
        (path, "no page holds it") for path in ("/total", "/buyer", "/due_date")
    }
    assert found.values["total"] == 473.0  # by the label
    assert found.values["buyer"] is None and found.values["due_date"] is None


def test_a_models_value_is_compared_as_a_value_not_as_letters() -> None:
    rows = ["Gesamtbetrag: 1.752,87 EUR", "Kunden AG", "Mitte", "fällig am 4. April 2018"]
    found = answered(rows, total="1752.87", buyer="kunden ag mitte", due_date="2018-04-04")
    assert found.refused == ()
    assert [found.values[name] for name in ("total", "buyer", "due_date")] == [
        1752.87, "kunden ag mitte", "2018-04-04",
    ]  # fmt: skip
    assert {one.by for one in found.fields if one.path in ("/total", "/buyer", "/due_date")} == {"model"}


def test_part_of_a_number_or_of_a_word_proves_nothing() -> None:
    found = answered(["Order 2012-77 of Acmeland"], invoice_number="201", buyer="Acme", quantity=12)
    assert {one.path for one in found.refused} == {"/invoice_number", "/buyer", "/quantity"}


@pytest.mark.parametrize(
    "answer",
    [
        {"total": "many"}, {"total": float("nan")}, {"total": True}, {"total": [1]}, {"total": "9" * 400},
        {"due_date": "soon"}, {"due_date": 7}, {"quantity": 1.5}, {"quantity": 1e400}, {"buyer": {"a": 1}},
        {"lines": "none"}, {"lines": [1, None, "x"]}, {"lines": [{"quantity": []}]},
    ],
)  # fmt: skip
def test_an_answer_of_the_wrong_type_is_refused_and_ends_nothing(answer: dict[str, Any]) -> None:
    found = answered(["Nothing to see here"], **answer)
    assert found.fields == () and found.values["lines"] == []


def test_a_models_rows_keep_only_what_the_page_holds() -> None:
    rows = ["Tea 2 3,00 6,00"]
    lines = [
        {"description": "Tea", "quantity": 2, "line_total": 6.0},
        {"description": "Cake", "line_total": 9.5},
    ]
    found = answered(rows, lines=lines)
    assert found.values["lines"] == [
        {"description": "Tea", "quantity": 2, "unit_price": None, "line_total": 6.0}
    ]
    assert {one.path for one in found.refused} == {"/lines/1/description", "/lines/1/line_total"}


def test_a_pdf_forms_own_fields_come_before_what_stands_near_a_label() -> None:
    form = (
        FormField("Name_Last", "", "Lee", (100, 0, 300, 30)),
        FormField("topmost[0].b1", "Date of birth", "3 March 1984", (100, 100, 300, 130)),
        FormField("member", "", "☒", (100, 150, 120, 180)),
        FormField("city", "", "Busan", (100, 200, 300, 230)),
    )
    page = page_of(["Lee", "LAST NAME", "3 March 1984", "☒", "Seoul"])  # the last was corrected by a person
    kinds: dict[str, Any] = {"last_name": {}, "birth_date": {"format": "date"}, "city": {}}
    kinds["member"] = {"type": "boolean"}
    schema = FieldSchema.parse("s", json.dumps({"properties": kinds}))
    found = by_rules(schema, DocumentText.of([replace(page, form=form)]))
    assert found.values == {"last_name": "Lee", "birth_date": "1984-03-03", "city": None, "member": True}
    assert [(one.by, one.locators) for one in found.fields] == [
        ("field", (f"penstock:a.pdf/p1/r{region}/l0",)) for region in (0, 2, 3)
    ]
