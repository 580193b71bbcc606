"""Fixed questions about the Korean test data and the sample: question, part of a file's name, page from 1.

Written from the contents of the pages. Page questions ask for a page; figure questions for the picture or
table itself, as `--label` of search does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.retrieval.hits import Filters
from penstock.retrieval.searcher import Searcher
from penstock.store.out import Out

Question = tuple[str, str, int]

QUESTIONS: tuple[Question, ...] = (
    ("데비안이라는 이름은 어떻게 발음하나요?", "project-history", 7),
    ("토이 스토리 주인공 카우보이 우디의 이름을 딴 릴리스", "project-history", 10),
    ("이안 머독이 쓴 데비안 선언문", "project-history", 25),
    ("클라이티 시달은 어떤 문서를 번역했나", "project-history", 24),
    ("clr enabled 옵션이 켜지면 SQL 서버에서 무엇이 가능해지나", "kovidore", 12),
    ("수압관은 무엇이고 벽은 왜 아래로 갈수록 두꺼워지나", "sample", 2),
    ("How is the power of falling water computed from head and flow?", "sample", 3),
    ("How far did the lake rise after the rain, according to the gate keeper?", "sample", 4),
    ("Why must a penstock be exactly wide enough?", "sample", 1),
    ("Who was Jens Schmalzing?", "project-history", 23),
)
FIGURE_QUESTIONS: tuple[Question, ...] = (
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


def recall(
    out: Path,
    questions: tuple[Question, ...],
    top: int,
    labels: tuple[str, ...] = (),
    weights: Mapping[str, float] | None = None,
) -> float:
    """The share of questions whose page is among the first `top`, by words alone."""
    found = 0
    with Searcher(Out(out)) as searcher:
        for question, document, page in questions:
            filters = Filters(labels=labels)
            hits = searcher.search(question, top=top, filters=filters, weights=weights, snippets=False)
            found += any(document in hit.document and hit.page == page for hit in hits)
    return round(found / len(questions), 3)
