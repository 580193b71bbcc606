"""Does pass 2 help search? Recall with and without summaries and keywords in the index.

    penstock parse ../shared/data/korean_pdf src/penstock/sample/sample.pdf -o OUT
    python benchmarks/bench_enriched_search.py OUT

Page questions ask for a page; figure questions ask for the picture or table itself (`--label` of search).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from penstock.enriching import enrich
from penstock.store.index import build
from penstock.store.search import Filters, Searcher

PAGE_QUESTIONS = (
    ("clr enabled 옵션이 켜지면 SQL 서버에서 무엇이 가능해지나", "kovidore", 12),
    ("수압관은 무엇이고 벽은 왜 아래로 갈수록 두꺼워지나", "sample", 2),
    ("How is the power of falling water computed from head and flow?", "sample", 3),
    ("How far did the lake rise after the rain, according to the gate keeper?", "sample", 4),
    ("Why must a penstock be exactly wide enough?", "sample", 1),
)
FIGURE_QUESTIONS = (
    ("분석 대상 정보를 보여 주는 표", "kovidore", 3),
    ("데이터베이스 서버의 해킹진단도구 진단 결과 화면", "kovidore", 5),
    ("데이터베이스 서버의 검출 결과", "kovidore", 6),
    ("백업 서버 해킹진단도구 검출 결과", "kovidore", 7),
    ("xp_cmdshell 활성화 명령어", "kovidore", 8),
    ("사용자 계정 생성 검출 결과 화면", "kovidore", 9),
    ("Secondary Logon 서비스 실행 검출 결과", "kovidore", 10),
    ("Windows Defender 실시간 감시 비활성화 검출 결과", "kovidore", 11),
    ("clr enabled 활성화 명령어", "kovidore", 12),
    ("SMBEXEC를 통한 원격 명령 실행", "kovidore", 13),
    ("관의 지름에 따른 마찰 손실 그래프", "sample", 3),
    ("energy of three small plants in one year", "sample", 3),
    ("water through the main gate on a working day", "sample", 1),
    ("lake level and how far each gate stood open", "sample", 4),
)
VISUAL = ("image", "chart", "table")


def recall(out: Path, questions: tuple[tuple[str, str, int], ...], top: int, figures: bool) -> float:
    searcher = Searcher(out)
    filters = Filters(labels=VISUAL) if figures else Filters()
    asked = [q for q in questions if any(q[1] in document for document in documents(out))]
    found = 0
    for question, document, page in asked:
        hits = searcher.search(question, top=top, filters=filters, snippets=False)
        found += any(document in hit.document and hit.page == page for hit in hits)
    return round(found / max(1, len(asked)), 3)


def documents(out: Path) -> list[str]:
    lines = (out / "documents.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["document"] for line in lines]


def figures_of(out: Path) -> dict[str, float]:
    build(out, rebuild=True)
    return {
        "page_recall_at_5": recall(out, PAGE_QUESTIONS, 5, figures=False),
        "figure_recall_at_1": recall(out, FIGURE_QUESTIONS, 1, figures=True),
        "figure_recall_at_5": recall(out, FIGURE_QUESTIONS, 5, figures=True),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        shutil.copytree(sys.argv[1], out, ignore=shutil.ignore_patterns("enrich", "index", "html", ".lock"))
        before = figures_of(out)
        list(enrich(out, text_engine="rule"))
        print(json.dumps({"without": before, "with_summaries": figures_of(out)}))


if __name__ == "__main__":
    main()
