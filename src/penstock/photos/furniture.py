"""What is known about furniture by class: usual size and spread, packing, whether movers move it.

The table is built in. `Furniture.open("prices.sqlite")` keeps an editable copy in a file, made on first
use; a `postgresql://` URL uses a server (package `psycopg`). `Furniture.open("sizes.csv")` puts the rows of a
CSV over the built-in ones (`own_sizes.py`). Names are found by synonym, Korean or English.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from penstock.errors import MissingModel, UsageError
from penstock.photos.furniture_table import ROWS
from penstock.photos.own_sizes import OwnSize, read_sizes

UNKNOWN = "object"
FT3_PER_M3 = 35.3147
CONNECT_S = 10
MAX_NEAR = 5
NUMBERS = ("width", "depth", "height", "width_spread", "depth_spread", "height_spread", "packing")
COLUMNS = {
    "name": "text primary key",
    **dict.fromkeys(NUMBERS, "double precision"),
    "movable": "integer",
    "source": "text",
}

# What a mover's inventory counts against the box: sofas ride as they are, beds and wardrobes taken
# apart, chairs nested. From mover cube tables: sofa 1.42 of 1.46 m3, bed 1.70 of 3.18, chair .14 of .27,
# wardrobe 1.13 of 2.08. Ours: tables lose their legs, treadmills fold, a rolled rug is twice its flat box.
PACKING = {
    "sofa": 0.97, "corner_sofa": 0.97, "sofa_bed": 0.97, "bed": 0.54, "chair": 0.52, "wardrobe": 0.54,
    "table": 0.60, "desk": 0.75, "plant": 0.80, "bunk_bed": 0.50, "treadmill": 0.70, "rug": 2.0,
}  # fmt: skip
ON_FLOOR = 0.03  # the chance that what usually rests on the floor does not
RAISED = {
    "television": 0.85, "microwave": 0.9, "mirror": 0.5, "air_conditioner": 0.35, "plant": 0.3, "lamp": 0.25,
    "carton": 0.15, "object": 0.15, "printer": 0.9, "air_purifier": 0.1,
}  # fmt: skip
FIXED = frozenset({"bathtub", "toilet", "door", "a4_sheet"})
ALONE = (0.0, 0.0, 0.0)  # correlations of sides that tell nothing of one another
TOGETHER = {name: together for name, _, _, together, _ in ROWS}

SYNONYMS: dict[str, tuple[str, ...]] = {
    "sofa": ("couch", "loveseat", "settee", "소파", "쇼파", "2인용 소파", "3인용 소파"),
    "corner_sofa": ("sectional", "l-sofa", "corner sofa", "코너 소파", "카우치"),
    "sofa_bed": ("futon", "sofa bed", "소파베드"),
    "armchair": ("easy chair", "recliner", "안락의자", "1인용 소파", "리클라이너"),
    "chair": ("dining chair", "의자", "식탁의자"),
    "office_chair": ("desk chair", "swivel chair", "사무용 의자", "책상의자"),
    "stool": ("ottoman", "footstool", "pouf", "스툴"),
    "bar_stool": ("bar chair", "바 의자", "바스툴"),
    "bookcase": ("bookshelf", "shelf", "shelving unit", "shelves", "책장", "책꽂이", "선반"),
    "cabinet": ("cupboard", "storage", "장식장", "수납장", "찬장"),
    "wardrobe": ("closet", "armoire", "옷장", "장롱", "붙박이장"),
    "tv_stand": ("tv bench", "tv cabinet", "media console", "거실장", "tv장", "티비장"),
    "dresser": ("chest of drawers", "drawer", "drawers", "서랍장", "화장대"),
    "nightstand": ("bedside table", "night stand", "협탁"),
    "desk": ("workstation", "책상", "컴퓨터책상"),
    "bed": ("bed frame", "침대", "퀸 침대", "싱글 침대"),
    "table": ("dining table", "kitchen table", "식탁", "테이블", "탁자"),
    "coffee_table": ("소파 테이블", "거실 테이블", "좌탁"),
    "side_table": ("side table", "end table", "사이드 테이블", "보조 테이블"),
    "clothes_care": ("styler", "clothing care", "스타일러", "의류관리기"),
    "massage_chair": ("massage chair", "안마의자"),
    "air_purifier": ("air purifier", "air cleaner", "공기청정기"),
    "dishwasher": ("dish washer", "식기세척기"),
    "treadmill": ("running machine", "러닝머신", "런닝머신"),
    "bunk_bed": ("bunk bed", "loft bed", "이층 침대", "이층침대", "2층 침대"),
    "grand_piano": ("grand piano", "그랜드 피아노"),
    "rug": ("carpet", "러그", "카펫", "카페트"),
    "printer": ("프린터", "복합기"),
    "a4_sheet": ("a4", "a4 sheet", "a4 paper", "a4 용지", "a4용지"),
    "door": ("문", "방문", "현관문"),
    "sideboard": ("buffet", "credenza", "console table", "콘솔"),
    "mattress": ("매트리스",),
    "refrigerator": ("fridge", "freezer", "냉장고", "김치냉장고"),
    "washing_machine": ("washer", "dryer", "washing machine", "세탁기", "건조기"),
    "television": ("tv", "monitor", "텔레비전", "티비"),
    "microwave": ("oven", "전자레인지"),
    "air_conditioner": ("ac", "air conditioner", "에어컨"),
    "piano": ("upright piano", "피아노"),
    "bicycle": ("bike", "자전거"),
    "lamp": ("floor lamp", "스탠드", "조명"),
    "plant": ("potted plant", "화분"),
    "mirror": ("거울",),
    "carton": ("box", "moving box", "suitcase", "상자", "박스", "여행가방"),
    "bathtub": ("tub", "욕조"),
    "toilet": ("변기",),
    UNKNOWN: ("thing", "물건"),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One class. Sizes are metres (width, depth, height); spreads are of their logarithms.

    `together` are correlations of these: of width and depth, width and height, depth and height.
    """

    name: str
    size: tuple[float, float, float]
    spread: tuple[float, float, float]
    packing: float = 1.0
    movable: bool = True
    source: str = "own"
    raised: float = ON_FLOOR  # how likely it does not stand on the floor: on a wall, a table, a shelf
    together: tuple[float, float, float] = ALONE


class Furniture:
    """The classes by name and synonym. An unknown name gets the class `object`, with a wide spread.

    Raises UsageError for a table that cannot be: a synonym of nothing, a size of zero.
    """

    def __init__(self, kinds: Iterable[Kind], synonyms: Iterable[tuple[str, str]]) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self._names = {_plain(word): name for word, name in synonyms}
        self._names.update({_plain(name): name for name in self.kinds})
        self._check()

    @classmethod
    def open(cls, url: str | None = None) -> Furniture:
        """The built-in table, or the one a file or server holds."""
        if url is None:
            return cls(_built_in(), _built_in_synonyms())
        if url.startswith(("postgresql://", "postgres://")):
            return cls(*_from_server(url))
        path = Path(url.removeprefix("sqlite:///"))
        if path.suffix.lower() == ".csv":
            return cls(*_with_sizes(read_sizes(path)))
        try:
            return cls(*_read(sqlite3.connect(path), "?"))
        except sqlite3.Error as exc:
            raise UsageError(f"The furniture table {path} cannot be used: {exc}.") from exc

    def find(self, label: str) -> Kind:
        """`find("소파")` and `find("couch")` are sofas."""
        name = self._names.get(_plain(label))
        if name is None:  # "a brown leather sofa": the last word that is known
            known = [self._names[word] for word in _plain(label).split("_") if word in self._names]
            name = known[-1] if known else UNKNOWN
        return self.kinds[name]

    def knows(self, label: str) -> bool:
        """Returns whether the table has a class for the label."""
        return self.find(label).name != UNKNOWN or _plain(label) in self._names

    def near(self, label: str, likeness: float = 0.6) -> list[str]:
        """Returns names that are spelled like the label, the nearest first; a likeness of 1 is equal."""
        spelled = {_letters(word): word.replace("_", " ") for word in self._names}
        found = get_close_matches(_letters(_plain(label)), spelled, MAX_NEAR, likeness)
        return [spelled[word] for word in found]

    def digest(self) -> str:
        """A name for all that is in the table: another size or another word gives another."""
        rows = [sorted(map(repr, self.kinds.values())), sorted(self._names.items())]
        return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]

    def _check(self) -> None:
        for word, name in self._names.items():
            if name not in self.kinds:
                raise UsageError(f"In the furniture table {word!r} names {name!r}, which is not there.")
        if UNKNOWN not in self.kinds:
            raise UsageError(f"The furniture table has no {UNKNOWN!r}, the row for all other things.")
        for kind in self.kinds.values():
            numbers = (*kind.size, *kind.spread, kind.packing)
            if not all(isinstance(value, float) and value > 0 for value in numbers):
                raise UsageError(
                    f"In the furniture table {kind.name!r} has a size, spread or packing not above 0."
                )

    def words(self, label: str) -> list[str]:
        """Every English name of a label's kind, for a model that has a fixed vocabulary."""
        kind = self.find(label).name
        if kind == UNKNOWN:
            return [label]
        names = [word for word, name in self._names.items() if name == kind and word.isascii()]
        return [word.replace("_", " ") for word in names]

    def english(self, label: str) -> str | None:
        """What to ask a model that reads English; None where the table has no such word."""
        if label.isascii():
            return label
        name = self.find(label).name
        return None if name == UNKNOWN else name.replace("_", " ")


def without_password(url: str | None) -> str | None:
    """The table's address without its password, for run.json."""
    return None if url is None else re.sub(r"(://[^/@:]*):[^/@]*@", r"\1@", url)


def _letters(word: str) -> str:
    """Returns the word with Korean syllables taken apart, so that one wrong letter is one difference."""
    return unicodedata.normalize("NFD", word)


def _plain(word: str) -> str:
    return word.strip().casefold().replace(" ", "_").replace("-", "_")


def _built_in() -> list[Kind]:
    return [
        Kind(name, size, spread, PACKING.get(name, 1.0), name not in FIXED, source, _raised(name), together)
        for name, size, spread, together, source in ROWS
    ]


def _raised(name: str) -> float:
    return RAISED.get(name, ON_FLOOR)


def _together(name: str) -> tuple[float, float, float]:
    return TOGETHER.get(name, TOGETHER[UNKNOWN])


def _built_in_synonyms() -> list[tuple[str, str]]:
    return [(word, name) for name, words in SYNONYMS.items() for word in words]


def _with_sizes(rows: list[OwnSize]) -> tuple[list[Kind], list[tuple[str, str]]]:
    kinds = {kind.name: kind for kind in _built_in()}
    words = []
    for row in rows:
        name = _plain(row.name)
        kinds[name] = _with_size(kinds.get(name) or replace(kinds[UNKNOWN], name=name), row)
        words += [(word, name) for word in row.synonyms]
    return list(kinds.values()), [*_built_in_synonyms(), *words]


def _with_size(kind: Kind, row: OwnSize) -> Kind:
    return replace(
        kind,
        size=row.size,
        spread=kind.spread if row.spread is None else (row.spread,) * 3,
        packing=kind.packing if row.packing is None else row.packing,
        movable=kind.movable if row.movable is None else row.movable,
        source="own",
    )


def _read(connection: Any, mark: str) -> tuple[list[Kind], list[tuple[str, str]]]:
    """Kinds and synonyms of a database, which is filled from the built-in table when it is new."""
    with closing(connection), closing(connection.cursor()) as cursor:
        columns = [f"{name} {kind}" for name, kind in COLUMNS.items()]
        cursor.execute(f"create table if not exists furniture ({', '.join(columns)})")
        cursor.execute("create table if not exists synonym (word text primary key, name text)")
        cursor.execute("select count(*) from furniture")
        if cursor.fetchone()[0] == 0:
            _fill(cursor, mark)
            connection.commit()
        cursor.execute(f"select {', '.join(COLUMNS)} from furniture")
        kinds = [
            Kind(str(r[0]), r[1:4], r[4:7], r[7], bool(r[8]), r[9], _raised(r[0]), _together(r[0]))
            for r in cursor.fetchall()
        ]
        cursor.execute("select word, name from synonym")
        return kinds, [(str(word), str(name)) for word, name in cursor.fetchall()]


def _fill(cursor: Any, mark: str) -> None:
    # two runs may find the same new table; what the other has put in stays
    kinds = [(k.name, *k.size, *k.spread, k.packing, int(k.movable), k.source) for k in _built_in()]
    marks = ", ".join([mark] * len(COLUMNS))
    cursor.executemany(f"insert into furniture values ({marks}) on conflict do nothing", kinds)
    words = f"insert into synonym values ({mark}, {mark}) on conflict do nothing"
    cursor.executemany(words, _built_in_synonyms())


def _from_server(url: str) -> tuple[list[Kind], list[tuple[str, str]]]:
    try:
        import psycopg  # type: ignore[import-not-found, unused-ignore]
    except ImportError as exc:
        raise MissingModel(
            "A furniture table on PostgreSQL needs the package psycopg.", "Run: pip install psycopg[binary]"
        ) from exc
    try:
        return _read(psycopg.connect(url, connect_timeout=CONNECT_S), "%s")
    except psycopg.OperationalError as exc:
        raise UsageError(f"The furniture table's server does not answer: {exc}.") from exc
    except psycopg.Error as exc:
        raise UsageError(f"The furniture table on the server cannot be used: {exc}.") from exc
