"""The furniture table: names in two languages, a file of one's own, a server."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import MissingModel, UsageError
from penstock.photos.furniture import ALONE, Furniture, without_password
from penstock.photos.sizing.sizes import prior_of
from penstock.recipes.photos import photos
from penstock.stages.detect import Detect
from penstock.stages.measure import Measure
from penstock.stages.reconstruct import Reconstruct
from penstock.workers.detector_words import detector_words


def test_furniture_is_found_by_korean_and_english_names() -> None:
    furniture = Furniture.open()
    names = ("소파", "couch", "a brown leather sofa", "Sofa", "책장", "bookshelf", "unheard-of")
    assert [furniture.find(name).name for name in names] == [
        "sofa", "sofa", "sofa", "sofa", "bookcase", "bookcase", "object",
    ]  # fmt: skip
    assert furniture.find("bed").packing == pytest.approx(0.54)
    assert not furniture.find("욕조").movable


def test_a_furniture_table_of_ones_own_is_made_and_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    assert Furniture.open(str(path)).find("sofa") == Furniture.open().find("sofa")
    with sqlite3.connect(path) as connection:
        connection.execute("update furniture set width = 3.3 where name = 'sofa'")
        connection.execute("insert into synonym values ('차량', 'bicycle')")
    connection.close()
    mine = Furniture.open(str(path))
    assert mine.find("couch").size[0] == pytest.approx(3.3)
    assert mine.find("차량").name == "bicycle"


def test_sides_vary_together_as_their_class_does(tmp_path: Path) -> None:
    built_in, mine = Furniture.open(), Furniture.open(str(tmp_path / "mine.sqlite"))
    assert built_in.find("sofa").together[0] > 0.3  # a wide sofa is deep
    assert built_in.find("a4").together == ALONE
    assert all(np.linalg.eigvalsh(prior_of(kind).covariance).min() > 0 for kind in built_in.kinds.values())
    assert {name: kind.together for name, kind in mine.kinds.items()} == {
        name: kind.together for name, kind in built_in.kinds.items()
    }


def test_the_table_is_built_so_that_a_series_counts_once(tmp_path: Path) -> None:
    many = [f"PAX,Wardrobes,Wardrobe,{width},60,236" for width in range(150, 250, 5)]
    few = [f"S{n},Wardrobes,Wardrobe,{width},5{n},200" for n, width in enumerate(range(80, 89))]
    scraped = ["DRAWER,Wardrobes,Wardrobe,90,55,12"]  # its height is a part's
    ikea = tmp_path / "ikea.csv"
    ikea.write_text("\n".join(["name,category,short_description,width,depth,height", *many, *few, *scraped]))
    fridges = tmp_path / "fridges.csv"
    sold = ["Brand Name,Compact,Width (in),Height (in)", "A,No,24,70", "A,No,25,70", "B,No,30,70", "C,Yes,9,"]
    fridges.write_text("\n".join(sold))
    build = [sys.executable, str(Path(__file__).parents[2] / "tools" / "furniture_build.py")]
    made = subprocess.run([*build, str(ikea), str(fridges)], capture_output=True, text=True, check=True)
    found: dict[str, object] = {}
    exec(made.stdout, found)
    rows = {row[0]: row for row in found["ROWS"]}  # type: ignore[attr-defined]
    assert 0.8 < rows["wardrobe"][1][0] < 0.9 and rows["wardrobe"][1][2] == 2.0
    assert 0.70 < rows["refrigerator"][1][0] < 0.80 and rows["refrigerator"][4] == "energy-star, own"


def test_sizes_of_ones_own_come_as_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "\ufeffname,width,depth,height,spread,packing,movable,synonyms\n"
        "Sofa, 2.1 ,0.95,0.8,0.05,,,\n"
        "kimchi_fridge,0.67,0.8,1.8,,,no,김치통;kimchi refrigerator\n",
        "utf-8",
    )
    mine, built_in = Furniture.open(str(path)), Furniture.open()
    sofa, fridge = mine.find("소파"), mine.find("김치통")
    assert (sofa.size, sofa.spread) == ((2.1, 0.95, 0.8), (0.05, 0.05, 0.05))
    assert sofa.packing == built_in.find("sofa").packing
    assert (fridge.name, fridge.size, fridge.movable) == ("kimchi_fridge", (0.67, 0.8, 1.8), False)
    assert fridge.spread == built_in.find("object").spread
    assert mine.find("bed") == built_in.find("bed")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "other columns"),
        ("name,width,depth\nsofa,1,1\n", "other columns"),
        ("name,width,depth,height,price\nsofa,1,1,1,9\n", "other columns"),
        ("name,width,depth,height\nsofa,1,1\n", "Line 2 .* too few"),
        ("name,width,depth,height\nsofa,1,1,1,1\n", "Line 2 .* too many"),
        ("name,width,depth,height\n,1,1,1\n", "no name"),
        ("name,width,depth,height\nsofa,1,nan,1\n", "line 2 .* depth is 'nan'"),
        ("name,width,depth,height\nsofa,1,1,900\n", "line 2 .* height is '900'"),
        ('name,width,depth,height\n"sofa,1,1,1\n', "no CSV"),
        ("name,width,depth,height\n" + "sofa,1,1,1\n" * 6000, "5000 lines"),
        ("x" * (1 << 21), "1 MB"),
    ],
)
def test_a_csv_that_is_wrong_is_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(UsageError, match=told):
        Furniture.open(str(tmp_path / "mine.csv"))


def test_an_edited_table_is_another_plan(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    before = photos(furniture=str(path))
    assert photos(furniture=str(path)).fingerprint() == before.fingerprint()
    with sqlite3.connect(path) as connection:
        connection.execute("update furniture set width = 3.3 where name = 'sofa'")
    connection.close()
    assert photos(furniture=str(path)).fingerprint() != before.fingerprint()
    [row] = [row for row in photos().settings() if row["stage"] == "measure"]
    assert row["table"] is None  # runs with the built-in table go on as they are


def test_a_table_that_is_no_table_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(UsageError, match=r"text.sqlite cannot be used"):
        Furniture.open(str(tmp_path / "text.sqlite"))
    with sqlite3.connect(tmp_path / "bare.sqlite") as connection:
        connection.execute("create table furniture (name text, width real)")
        connection.execute("insert into furniture values ('sofa', 2.0)")
    connection.close()
    with pytest.raises(UsageError, match=r"bare.sqlite cannot be used"):
        Furniture.open(str(tmp_path / "bare.sqlite"))
    with sqlite3.connect(tmp_path / "few.sqlite") as connection:
        connection.execute("create table if not exists synonym (word text primary key, name text)")
        connection.execute("insert into synonym values ('divan', 'nothing known')")
    connection.close()
    with pytest.raises(UsageError, match="'divan' names 'nothing known'"):
        Furniture.open(str(tmp_path / "few.sqlite"))


def test_detectors_are_asked_in_words_they_know_and_answer_in_the_users() -> None:
    assert detector_words("grounded", ("의자", "책상", "surfboard")) == {
        "chair": "의자", "desk": "책상", "surfboard": "surfboard",
    }  # fmt: skip
    assert detector_words("rfdetr", ("소파",))["couch"] == "소파"  # COCO's word
    everything = detector_words("rfdetr", ())
    assert {"chair", "couch", "dining table", "tv", "potted plant"} <= everything.keys()
    assert not {"person", "cat", "object"} & everything.keys()
    with pytest.raises(UsageError, match="no English word for '가야금'"):
        detector_words("yoloe", ("가야금",))


def test_a_password_is_not_written_down() -> None:
    url = "postgresql://mover:se:cret@db.example/f?sslmode=require"
    assert without_password(url) == "postgresql://mover@db.example/f?sslmode=require"
    assert without_password("mine.sqlite") == "mine.sqlite"
    for stage in (Detect(furniture=url), Reconstruct(furniture=url), Measure(furniture=url)):
        assert "cret" not in str(stage.settings())


def test_postgres_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingModel, match="psycopg"):
        Furniture.open("postgresql://nowhere/furniture")


def programs() -> Path | None:
    """Where PostgreSQL's programs are; Debian keeps them off the PATH."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return places[-1] if places else None


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of our own in a folder of its own, gone afterwards."""
    pytest.importorskip("psycopg")
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    home = tmp_path_factory.mktemp("postgres")
    # it refuses to run as root
    user = "postgres" if os.getuid() == 0 else None
    if user:
        home = Path(f"/tmp/penstock-postgres-{os.getpid()}")
        home.mkdir()
        shutil.chown(home, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(home / "data")

    def tell(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=home, capture_output=True, timeout=300)

    options = f"-h 127.0.0.1 -p {port} -k {home} -c fsync=off"
    try:
        tell(f"{folder}/initdb", "-D", data, "-U", "mover", "-A", "trust", "-E", "UTF8", "--no-sync")
        tell(f"{folder}/pg_ctl", "-D", data, "-l", str(home / "log"), "-o", options, "-w", "start")
        yield f"postgresql://mover@127.0.0.1:{port}/postgres"
        tell(f"{folder}/pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_a_real_postgres_is_filled_once_and_then_edited_by_its_owner(postgres: str) -> None:
    import psycopg

    first = Furniture.open(postgres)
    assert first.kinds.keys() == Furniture.open().kinds.keys()
    assert first.find("소파").size == pytest.approx(Furniture.open().find("sofa").size)
    with psycopg.connect(postgres) as connection:
        connection.execute("update furniture set packing = 0.5, movable = 0 where name = 'piano'")
        connection.execute("insert into synonym values ('가야금', 'piano')")
    mine = Furniture.open(postgres)
    assert (mine.find("가야금").packing, mine.find("upright piano").movable) == (0.5, False)
    with psycopg.connect(postgres) as connection:
        connection.execute("drop table furniture")
        connection.execute("create table furniture (name text)")
        connection.execute("insert into furniture values ('sofa')")
    with pytest.raises(UsageError, match="furniture table"):
        Furniture.open(postgres)
    with pytest.raises(UsageError, match="does not answer"):
        Furniture.open("postgresql://mover@127.0.0.1:1/postgres")
