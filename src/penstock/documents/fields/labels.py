"""What documents call a value: the schema's own words, and what they are called in five languages.

A row of `CONCEPTS` is one thing that forms and bills name, its surest labels first. A field whose own words
are one of them gets all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

MAX_LABELS = 120
ENDS_WORDS = 7  # letters of a label that may end a longer word
SHORT = 3  # letters of a word that means something only when it stands alone
NO_LETTER = r"(?![^\W\d_])"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Concept:
    """What one thing is called. A row of the page with a word of `other_than` means something else."""

    name: str
    labels: tuple[str, ...]
    other_than: tuple[str, ...] = ()


def _concept(name: str, labels: str, other_than: str = "") -> Concept:
    return Concept(name, _names(labels), _names(other_than))


def _names(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split("|") if one.strip())


CONCEPTS = (
    _concept(
        "invoice number",
        "invoice number|invoice no|invoice nr|invoice #|invoice id|bill number|document number"
        "|receipt no|rechnungsnummer|rechnungs-nr|rechnungsnr|rechnung nr|rechnung-nr|gutschriftsnummer"
        "|gutschrift nr|rechnungskorrektur nr|korrekturrechnung nr|belegnummer|beleg-nr|bon nr"
        "|numéro de facture|facture n°|facture no|n° de facture|n° facture|avoir n°|facture numéro"
        "|factuurnummer|factuur nr|faktura nr|계산서 번호|송장 번호|청구서 번호|문서 번호|승인 번호"
        "|invoice|tax invoice|rechnung|facture|avoir|factuur|credit note|gutschrift|nr|no|n°",
        "kunden|steuer|ust|handelsreg|hrb|bestell|konto|artikel|tel|fax|lieferschein|customer|order|client|art"
        "|account|vat|tax id|item|phone|auftrag|vertrag|mandat|klant|gln|blz|iban|page|seite|commande",
    ),
    _concept(
        "invoice date",
        "invoice date|date of invoice|bill date|issue date|date of issue|invoice dated|rechnungsdatum"
        "|rechnung vom|datum der rechnung|ausstellungsdatum|belegdatum|date de facture"
        "|date de facturation|date facture|date d'émission|facture du|factuurdatum|factuur datum"
        "|작성 일자|발행일|발행 일자|청구일|datum|date|dated|일자|날짜|vom|du",
        "due|fällig|liefer|leistung|bestell|order|delivery|échéance|vervaldatum|payment|zeitraum|period"
        "|print|만기",
    ),
    _concept(
        "due date",
        "due date|payment due date|payment due|date due|due by|due on|fälligkeitsdatum|fälligkeit"
        "|fällig am|fälligkeitstag|zahlbar bis|zahlbar|zahlungsziel|date d'échéance|échéance"
        "|date limite de paiement|vervaldatum|지급 기한|납부 기한|만기일|납기일",
        "skonto",
    ),
    _concept(
        "delivery date",
        "delivery date|date of delivery|shipping date|lieferdatum|leistungsdatum"
        "|liefer- und leistungsdatum|leistungszeitpunkt|date de livraison|leverdatum|납품일|배송일",
    ),
    _concept(
        "order date",
        "order date|bestelldatum|bestellung vom|date de commande|orderdatum|besteldatum|주문일",
    ),
    _concept(
        "order number",
        "order number|order no|order id|purchase order|po number|bestellnummer|bestell-nr|bestellnr"
        "|bestellung|auftragsnummer|auftrags-nr|numéro de commande|n° de commande|ordernummer"
        "|bestelnummer|주문 번호|발주 번호",
    ),
    _concept(
        "customer number",
        "customer number|customer no|customer id|client number|kundennummer|kunden-nr|kundennr"
        "|debitorennummer|numéro client|n° client|code client|klantnummer|고객 번호",
    ),
    _concept(
        "total",
        "grand total|total amount due|amount due|total due|total to pay|balance due|invoice total"
        "|total amount|total incl vat|total including vat|total payable|zu zahlen|zahlbetrag"
        "|rechnungsbetrag|rechnungsendbetrag|endbetrag|bruttobetrag|bruttosumme|gesamtbetrag"
        "|rechnungssumme brutto|gesamtsumme|gesamt brutto|rechnungssumme|net à payer|total ttc"
        "|montant ttc|total à payer|montant total|totaal te betalen|te betalen|totaalbedrag|총 합계"
        "|합계 금액|총 금액|총액|결제 금액|청구 금액|받을 금액|합계|total|totaal|summe|brutto|gesamt"
        "|amount|betrag",
        "netto|net|excl|exkl|excluding|ohne|zwischensumme|subtotal|sub total|ht|steuer|tax|ust|mwst|must|vat"
        "|tva|btw|rabatt|discount|skonto|bar|ruckgeld|artikel|공급가액|세액|부가세",
    ),
    _concept(
        "net total",
        "total excl vat|total excluding vat|net total|net amount|subtotal|sub total|amount untaxed"
        "|rechnungssumme ohne ust|gesamtbetrag ohne ust|summe ohne ust|total net ht"
        "|untaxed amount|total before tax|nettobetrag|gesamtbetrag netto|rechnungssumme netto"
        "|nettosumme|summe netto|gesamt netto|warenwert netto|nettowarenwert|zwischensumme netto|netto"
        "|total ht|montant ht|total hors taxes|subtotaal|totaal excl|공급가액|공급 가액|소계"
        "|zwischensumme|total net",
        "à payer",
    ),
    _concept(
        "tax amount",
        "total tax|tax amount|vat amount|sales tax|total vat|steuerbetrag|umsatzsteuerbetrag"
        "|summe umsatzsteuer|summe mwst|steuersumme|total taxes|gesamtsteuer|mwst-betrag|mehrwertsteuer"
        "|umsatzsteuer|versicherungsteuer|mwst|ust|total tva|montant tva|tva|btw|부가가치세|부가세|세액|tax"
        "|vat|gst",
        "id|nr|no|number|identnr|steuernummer|inkl|incl|excl|exkl|intracommunautaire",
    ),
    _concept("tax rate", "tax rate|vat rate|steuersatz|mwst-satz|ust-satz|taux de tva|taux|btw %|세율"),
    _concept("currency", "currency|währung|beträge in|devise|monnaie|valuta|통화|화폐"),
    _concept(
        "seller name",
        "seller|vendor|supplier|issuer|issued by|sold by|merchant|from|verkäufer|lieferant"
        "|rechnungsersteller|rechnungssteller|fournisseur|vendeur|leverancier|공급자|판매자|상호",
    ),
    _concept(
        "buyer name",
        "bill to|billed to|buyer|customer|sold to|invoice to|käufer|kunde|rechnungsempfänger"
        "|leistungsempfänger|client|acheteur|facturé à|klant|공급받는자|구매자|고객명",
    ),
    _concept(
        "vat id",
        "vat id|vat number|vat no|vat reg no|vat registration number|tax id|ust-idnr|ust-id|ust-id-nr"
        "|ust-ident-nr|ust-identnr|umsatzsteuer-id|umsatzsteuer-identifikationsnummer|n° tva"
        "|tva intracommunautaire|numéro de tva|btw nummer|btw-nr|gstin|사업자 등록번호|등록번호"
        "|사업자번호",
    ),
    _concept("tax number", "steuernummer|steuer-nr|steuernr|st-nr|tax number|siret|siren"),
    _concept("iban", "iban|iban-nr"),
    _concept("bic", "bic|swift|bic-nr|swift code|swift-bic"),
    _concept(
        "description",
        "description|item|product|article|service|bezeichnung|artikel|artikelbeschreibung|beschreibung"
        "|leistung|text|désignation|libellé|produit|omschrijving|품목|품명|내용|적요|name",
    ),
    _concept("quantity", "quantity|qty|menge|anzahl|quantité|qté|nombre|aantal|hoeveelheid|수량|units"),
    _concept(
        "unit price",
        "unit price|price|rate|einzelpreis|e-preis|preis|stückpreis|prix unitaire|p u ht|p u|pu|prijs|단가",
    ),
    _concept(
        "line total",
        "line total|amount|total|total price|gesamtpreis|g-preis|betrag|gesamt|summe|montant|montant ht"
        "|total ht|prix ht|prix total|bedrag|totaal|금액|공급가액|entgelt",
    ),
    _concept("unit", "unit|einheit|unité|eenheid|단위|uom"),
    _concept("position", "position|pos|line|line no|lfd nr|순번|번호"),
    _concept(
        "article number",
        "article number|item number|item no|sku|product code|code|artikelnummer|art-nr|artikel-nr"
        "|artikelnr|référence|réf|artikelnummer|품번|품목코드",
    ),
    _concept("phone", "phone|telephone|tel|telefon|téléphone|telefoon|전화|연락처|전화번호"),
    _concept("email", "email|e-mail|mail|courriel|이메일|전자우편"),
    _concept("name", "name|full name|nom|naam|이름|성명|성함"),
    _concept("address", "address|anschrift|adresse|adres|주소"),
    _concept("date of birth", "date of birth|birth date|geburtsdatum|geboren am|date de naissance|생년월일"),
    _concept("percent", "percent|rate|satz|taux|비율"),
)
# what names of fields are made of, where no label says it: `grand_total`, `issue_dt`
_OTHER_NAMES = {
    name: concept
    for concept, names in {
        "invoice number": "invoice no|invoice nr|number",
        "invoice date": "issue date",
        "due date": "date due",
        "total": "total amount|amount|amount total|grand total|gross total|total gross",
        "net total": "total net|amount net|amount untaxed|subtotal|net amount",
        "tax amount": "tax|vat|amount tax|total tax|tax total",
        "seller name": "vendor|seller|issuer|merchant|supplier|vendor name|merchant name",
        "buyer name": "buyer|customer|customer name",
        "order number": "po number",
        "vat id": "vat number",
        "quantity": "qty",
        "unit price": "price|price unit",
    }.items()
    for name in _names(names)
}


def fold(text: str) -> str:
    """Returns the text without case, marks and accents, each letter in its place: offsets stay.

    >>> fold("Fälligkeit")
    'falligkeit'
    """
    return text.lower() if text.isascii() else "".join(map(_folded, text))


@cache
def _folded(letter: str) -> str:
    small = letter.lower()
    base = unicodedata.normalize("NFD", small)[:1] if not "가" <= letter <= "힣" else small
    return base if len(base) == 1 else letter


def plain(text: str) -> str:
    """Returns words only: how two labels are compared."""
    return _BREAKS.sub(" ", fold(_CAMEL.sub(" ", text))).strip()


class FieldWords(NamedTuple):
    """What a field may be called on a page, the surest first, and the things that it is one of."""

    labels: tuple[str, ...]
    concepts: tuple[Concept, ...]


def words_of(name: str, own: Sequence[str]) -> FieldWords:
    """Returns the words of a field: the schema's own, and those of the things that they name."""
    words = [*own, _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ")]
    keys = {plain(word) for word in words}
    keys |= {_OTHER_NAMES[key] for key in keys if key in _OTHER_NAMES}
    concepts = _concepts_of(keys)
    shared = [label for concept in concepts for label in concept.labels]
    # a field "total" is found by "grand total" before it is by "total"
    known = set(map(plain, shared))
    first = [word for word in words if plain(word) and plain(word) not in known]
    return FieldWords(tuple(dict.fromkeys([*first, *shared]))[:MAX_LABELS], tuple(concepts))


def _concepts_of(keys: set[str]) -> list[Concept]:
    """Returns the things of these names; else the first that has one of them as a label."""
    exact = [concept for concept in CONCEPTS if concept.name in keys]
    return exact or [concept for concept in CONCEPTS if keys & _plain_labels(concept)][:1]


@cache
def _plain_labels(concept: Concept) -> frozenset[str]:
    return frozenset(map(plain, concept.labels))


def label_pattern(labels: Iterable[str]) -> re.Pattern[str]:
    """Returns what finds any of the labels in folded text, the longest at a place. All of it is escaped.

    A long label may end a longer word: Rechnung in Handelsrechnung.
    """
    parts = sorted({_as_pattern(label) for label in labels}, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(part for part in parts if part) or '(?!)'})(?![^\W\d_])")


def beginnings_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Returns what finds words that begin with any of these; short ones are meant whole."""
    parts = [f"{re.escape(plain(word))}{'' if len(word) > SHORT else NO_LETTER}" for word in words]
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(parts) or '(?!)'})")


def _as_pattern(label: str) -> str:
    words = plain(label).split()
    spread = [r" ?".join(map(re.escape, word)) if _is_hangul(word) else re.escape(word) for word in words]
    begins = "" if words and len(words[0]) >= ENDS_WORDS else r"(?<![^\W\d_])"
    return begins + r"[\s.\-_/'°]{0,3}".join(spread) if spread else ""


def _is_hangul(word: str) -> bool:
    return all("가" <= letter <= "힣" for letter in word)
