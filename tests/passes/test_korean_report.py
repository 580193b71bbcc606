"""Pass 2 over a real Korean report: every table and figure gets keywords a reader would accept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from penstock import enrich
from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson.captions import VISUAL
from penstock.documents.docjson.references import caption_key
from penstock.engines.summarise.rules import WORDS_KO
from penstock.exports.export import export

# what a reader would look for, by the number under the figure
EXPECTED = {
    ("table", "1"): {"분석", "대상", "호스트명", "운영체제"},
    ("figure", "2"): {"해킹진단도구", "데이터베이스"},
    ("figure", "3"): {"해킹진단도구", "검출", "데이터베이스"},
    ("figure", "4"): {"해킹진단도구", "백업"},
    ("figure", "5"): {"해킹진단도구", "검출", "백업"},
    ("figure", "6"): {"활성화", "명령어"},
    ("figure", "7"): {"해킹진단도구", "검출"},
    ("figure", "9"): {"해킹진단도구", "사용자", "계정"},
    ("figure", "11"): {"해킹진단도구", "서비스", "실행"},
    ("figure", "12"): {"해킹진단도구", "실시간", "비활성화"},
    ("figure", "13"): {"활성화", "명령어"},
    ("figure", "14"): {"해킹진단도구", "활성화"},
    ("figure", "15"): {"원격", "명령", "계정"},
    ("figure", "16"): {"해킹진단도구", "사용자", "계정"},
    ("figure", "17"): {"해킹진단도구", "실시간", "비활성화"},
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_table_and_figure_has_keywords_a_reader_would_accept(korean_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("kiwipiepy")
    check(Path(shutil.copytree(korean_run, tmp_path / "out")))


def check(out: Path) -> None:
    list(enrich(out, text_engine="rule"))
    export(out, ["docjson"])
    [path] = (out / "docjson").rglob("kovidore_cybersecurity_example*.json")
    doc = docjson_file.read(path)
    texts = {block.id: block.text for block in doc.blocks}
    visuals = [block for block in doc.blocks if block.category in VISUAL and block.layer == "body"]
    assert len(visuals) >= 15
    met = set()
    for block in visuals:
        assert block.enrichment is not None
        words = set(block.enrichment.keywords.ko)
        assert words and words != {WORDS_KO[block.category]}, block.id
        key = caption_key(" ".join(texts[id] for id in block.caption_ids))
        if key in EXPECTED:
            met.add(key)
            said = " ".join(words)
            assert all(word in said for word in EXPECTED[key]), (key, words)
    assert len(met) >= 12  # the layout model does not see every figure
