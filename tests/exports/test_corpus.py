"""The corpus of a run: the language of each page, and documents that say nearly the same."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.documents.text.minhash import NearTexts, signature, similarity
from penstock.exports.page_files import CORPUS
from penstock.plan import Plan
from penstock.stages.load import Load
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.made_pdf import pdf, text

TEXTS = {
    "ko": "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다. 산비탈을 따라 곧게 내려온다.",
    "en": "A penstock does no work of its own. It neither stores water nor turns a wheel.",
    "de": "Ein Druckrohr leistet selbst keine Arbeit. Es speichert kein Wasser und treibt kein Rad an.",
    "ru": "Напорный трубопровод сам не совершает работы. Он не хранит воду и не вращает колесо.",
    "ja": "水圧管は貯水池の水を発電所の水車まで導く太い鋼管である。",
}


@pytest.mark.parametrize("code", TEXTS)
def test_the_language_of_a_page_is_recognised(code: str) -> None:
    pytest.importorskip("py3langid", reason="needs penstock-pipeline[corpora]")
    from penstock.engines.language import LanguageReader

    found = LanguageReader()(f"# 1.2\n\n{TEXTS[code]} https://example.com/in-english-all-the-same")
    assert found is not None and found.code == code and found.confidence > 0.9


def test_a_few_letters_have_no_language() -> None:
    pytest.importorskip("py3langid", reason="needs penstock-pipeline[corpora]")
    from penstock.engines.language import LanguageReader

    assert LanguageReader()("12 | 3.4 | $x^2$ | p. 7") is None


def words(seed: int, count: int = 400) -> list[str]:
    chosen = random.Random(seed)
    return ["".join(chosen.choices("가나다라마바사아자차abcdefgh", k=4)) for _ in range(count)]


@pytest.mark.parametrize(("changed", "is_near"), [(0, True), (4, True), (100, False)])
def test_texts_that_share_most_of_their_runs_are_near(changed: int, is_near: bool) -> None:
    """A word of 4 letters stands in 11 runs of 8: with 4 of 400 changed some 95 % are shared."""
    one, other = words(1), words(1)
    other[: changed * 3 : 3] = words(2, changed)
    near = NearTexts(0.7)
    assert near.nearest("one", signature([" ".join(one)])) is None
    found = near.nearest("other", signature([" ".join(other)]))
    assert (found is not None and found[0] == "one") == is_near


def test_a_signature_is_the_same_however_the_pages_are_cut_and_spaced() -> None:
    one = signature([" ".join(words(1))])
    assert similarity(one, signature(["\n\n".join(words(1)).upper()])) == 1
    halves = [" ".join(words(1)[:200]), " ".join(words(1)[200:])]
    assert similarity(one, signature(halves)) > 0.95
    assert NearTexts(0.7).nearest("empty", signature(["", "short"])) is None


def rows(folder: Path) -> list[dict[str, Any]]:
    for name, pages in {"a.pdf": 2, "b.pdf": 2, "c.pdf": 1}.items():
        (folder / name).write_bytes(pdf([text(f"page {number}") for number in range(pages)]))
    plan = Plan(Load(dpi=36, workers=1), FakeLayout(), FakeRecognise(), name="fake")
    inputs = [folder / name for name in ("a.pdf", "b.pdf", "c.pdf")]
    list(penstock.parse(inputs, out=folder / "out", recipe=plan, executor="inline"))
    [path] = penstock.export(folder / "out", ["corpus"])
    assert path == folder / "out" / CORPUS
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_corpus_has_a_line_a_page_with_its_address(tmp_path: Path) -> None:
    found = rows(tmp_path)
    places = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)]
    assert [row["locator"] for row in found] == [f"penstock:{name}.pdf/p{page}" for name, page in places]
    assert all(row["valid"] and row["text"] for row in found)


def test_without_the_package_languages_are_left_out_and_the_log_says_how_to_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    monkeypatch.setattr("penstock.extras.find_spec", lambda name: None)
    assert {row["language"] for row in rows(tmp_path)} == {None}
    assert "pip install 'penstock-pipeline[corpora]'" in caplog.text
