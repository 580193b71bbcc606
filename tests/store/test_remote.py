"""An OUT on an object store: the same rows as on a disk, whatever the store or a kill does to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import PlanMismatch, StoreError, UsageError
from penstock.exports.export import export
from penstock.object_stores import is_object_address
from penstock.passes.parse import ParseOptions, parse_work
from penstock.plan import Plan
from penstock.stages.load import Load
from penstock.store.atomic_files import replacing
from penstock.store.manifest import refuse_others
from penstock.store.out import Out
from penstock.store.ownership import claim_folder
from penstock.store.remote import Mirror, bring_ledger, mirrored
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.command import here
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket, content_at, names_at, put_at

Rows = list[tuple[str, str, str]]


def plan(dpi: int = 36) -> Plan:
    return Plan(Load(dpi=dpi, workers=1), FakeLayout(), FakeRecognise(), name="fake")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for number in range(9):
        (folder / f"d{number}.pdf").write_bytes(pdf([text(f"{number} {page}") for page in range(2)]))
    return folder


@pytest.fixture(scope="module")
def whole(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    out = tmp_path_factory.mktemp("whole") / "out"
    parse_work(options(inputs), out).finish()
    return rows(out)


@pytest.fixture
def store() -> Iterator[str]:
    with bucket("made") as address:
        yield address


@pytest.fixture
def shared() -> Iterator[str]:
    with bucket("shared") as address:
        yield address


def options(inputs: Path, partition: str | None = None, dpi: int = 36, fresh: bool = False) -> ParseOptions:
    return ParseOptions(
        inputs=(str(inputs),), recipe=plan(dpi), executor="inline", partition=partition, fresh=fresh
    )


def rows(out: Path) -> Rows:
    return [(page.id, page.document, page.markdown) for page in Out(out).read_pages()]


def read_into(address: str, home: Path, chosen: ParseOptions) -> int:
    with mirrored(address, home, everything=False) as out:
        work = parse_work(chosen, out)
        work.finish()
        return work.run.tally.done


def rows_at(address: str, home: Path) -> Rows:
    """Reads an address as another machine does: with nothing of it here yet."""
    with mirrored(address, home) as out:
        return rows(out)


def test_a_run_into_a_store_gives_the_rows_of_one_on_a_disk(
    store: str, inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    assert read_into(f"{store}/runs/a", tmp_path / "here", options(inputs)) == len(whole)
    assert rows_at(f"{store}/runs/a", tmp_path / "there") == whole
    assert read_into(f"{store}/runs/a", tmp_path / "there", options(inputs)) == 0
    names = names_at(store)
    assert {"runs/a/run.json", "runs/a/documents.jsonl"} <= set(names)
    assert not [name for name in names if "/.penstock/" in name]


def test_ranks_on_machines_without_a_common_disk_share_one_store(
    store: str, inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    done = [
        read_into(f"{store}/b", tmp_path / f"machine-{rank}", options(inputs, f"{rank}/3"))
        for rank in (2, 3, 1)
    ]
    assert sum(done) == len(whole)
    assert rows_at(f"{store}/b", tmp_path / "reader") == whole


def test_a_rank_that_goes_on_elsewhere_brings_only_its_own_rows(
    store: str, inputs: Path, tmp_path: Path
) -> None:
    for rank in (1, 2):
        read_into(f"{store}/own", tmp_path / f"machine-{rank}", options(inputs, f"{rank}/2"))
    again = tmp_path / "again"
    assert read_into(f"{store}/own", again, options(inputs, "1/2")) == 0
    brought = [path.name for path in again.rglob("*.parquet")]
    assert brought and all(name.startswith("1-of-2-") for name in brought)
    assert [path.name for path in again.rglob("ranks/2-of-2/*")] == ["documents.jsonl"]


def test_two_machines_with_the_same_rank_lose_and_double_nothing(
    store: str, inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    with mirrored(f"{store}/c", tmp_path / "one", everything=False) as one:
        first = parse_work(options(inputs, "1/1"), one)
        pages = iter(first)
        next(pages)
        assert read_into(f"{store}/c", tmp_path / "two", options(inputs, "1/1")) == len(whole)
        assert sum(1 for _ in pages) == len(whole) - 1
    assert rows_at(f"{store}/c", tmp_path / "reader") == whole


def test_a_pass_goes_on_where_another_machine_left_it(store: str, tmp_path: Path) -> None:
    for machine in ("one", "two"):
        with mirrored(f"{store}/pass", tmp_path / machine) as out:
            folder = out / "embed" / "small"
            refuse_others(folder, fresh=False)
            claim_folder(out, folder)
            with replacing(folder / "run.json", folder) as file:
                file.write(machine.encode())
    assert Mirror(f"{store}/pass", tmp_path).object("embed/small/run.json")[0] == b"two"


def test_exports_bring_crops_only_where_they_read_them(store: str, inputs: Path, tmp_path: Path) -> None:
    read_into(f"{store}/run", tmp_path / "one", options(inputs))
    crop = f"crops/{0:024x}.jpg"
    with mirrored(f"{store}/run", tmp_path / "one", everything=False) as out:
        (out / crop).parent.mkdir(exist_ok=True)
        (out / crop).write_bytes(b"a picture")
    with mirrored(f"{store}/run", tmp_path / "two", everything=False) as out:
        bring_ledger(out)
        export(out, ["md", "jsonl"])
        assert not (out / crop).exists()
        export(out, ["md"], crop_names="page")
        assert (out / crop).read_bytes() == b"a picture"


def test_what_others_changed_meanwhile_is_not_sent_back_as_it_was(
    store: str, inputs: Path, tmp_path: Path
) -> None:
    address = f"{store}/meanwhile"
    read_into(address, tmp_path / "first", options(inputs, "1/2"))
    with mirrored(address, tmp_path / "here"):
        other = Mirror(address, tmp_path / "other")
        other.pull()
        (other.path / "run.json").write_text("changed")
        other.push()
    assert Mirror(address, tmp_path / "reader").object("run.json")[0] == b"changed"


def test_a_store_that_fails_one_answer_in_eight_costs_time_alone(
    inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    with bucket("flaky", fault=0.12, seed=3) as store:
        for rank in (1, 2):
            read_into(f"{store}/d", tmp_path / f"machine-{rank}", options(inputs, f"{rank}/2"))
        assert rows_at(f"{store}/d", tmp_path / "reader") == whole


def test_a_put_that_races_another_is_tried_again_until_the_object_is_there(
    inputs: Path, tmp_path: Path
) -> None:
    """409 says that somebody puts it now, not that it is there: that put may fail."""
    with bucket("raced", conflicts=2) as store, mirrored(f"{store}/d", tmp_path) as out:
        parse_work(options(inputs), out).finish()
        shards = [path.relative_to(out).as_posix() for path in out.glob("items/*.parquet")]
        assert shards and set(shards) <= set(names_at(f"{store}/d"))


def test_rows_that_only_the_mirror_has_are_sent_by_the_next_run(
    store: str, inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    """As after a kill between a commit on the disk and its answer from the store."""
    home = tmp_path / "here"
    local = Mirror(f"{store}/e", home).path
    parse_work(options(inputs), local).finish()  # no mirror is open: nothing is sent
    assert read_into(f"{store}/e", home, options(inputs)) == 0
    assert rows_at(f"{store}/e", tmp_path / "there") == whole


def test_a_run_of_another_plan_is_refused_as_on_a_disk(store: str, inputs: Path, tmp_path: Path) -> None:
    read_into(f"{store}/f", tmp_path / "one", options(inputs, "1/2"))
    with pytest.raises(PlanMismatch, match=r"load\.dpi: 36 -> 72"):
        read_into(f"{store}/f", tmp_path / "two", options(inputs, "2/2", dpi=72))


def test_nothing_is_deleted_in_a_store(store: str, inputs: Path, tmp_path: Path) -> None:
    read_into(f"{store}/g", tmp_path, options(inputs))
    before = names_at(store)
    with pytest.raises(UsageError, match="--fresh deletes nothing"):
        read_into(f"{store}/g", tmp_path, options(inputs, fresh=True))
    assert names_at(store) == before


def test_what_somebody_else_put_there_is_neither_brought_nor_written_over(
    shared: str, inputs: Path, whole: Rows, tmp_path: Path
) -> None:
    theirs = ("markdown/d0.md", "photos/one.jpg", "markdown/", "a//b", "photos/%00", "photos/" + "n" * 300)
    for name in theirs:
        put_at(f"{shared}/i", name, b"mine")
    read_into(f"{shared}/i", tmp_path / "here", options(inputs))
    with (
        pytest.raises(StoreError, match=r"markdown/d0\.md was not written by Penstock"),
        mirrored(f"{shared}/i", tmp_path / "here") as out,
    ):
        export(out, ["md"])
    assert {content_at(f"{shared}/i", name) for name in theirs} == {b"mine"}
    assert rows_at(f"{shared}/i", tmp_path / "there") == whole
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == b"mine"]


def test_a_description_that_somebody_else_wrote_is_left_alone(
    shared: str, inputs: Path, tmp_path: Path
) -> None:
    put_at(f"{shared}/j", "run.json", b"{}")
    with pytest.raises(StoreError, match=r"run\.json was not written by Penstock"):
        read_into(f"{shared}/j", tmp_path, options(inputs))
    assert content_at(f"{shared}/j", "run.json") == b"{}"


def test_names_that_lead_outside_stay_outside(store: str, tmp_path: Path) -> None:
    mirror = Mirror(f"{store}/h", tmp_path / "home")
    assert all(
        mirror.place_of(name) is None for name in ("../x", "a/../../x", "/etc/x", ".penstock/made", "")
    )


def test_a_bucket_that_is_not_there_is_a_sentence(store: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere"), mirrored("s3://nowhere/x", tmp_path):
        pass


@pytest.mark.parametrize("text", ["s3://b/p", "gs://b/p", "az://c/p", "s3:/b/p", "S3://B/p"])
def test_addresses_of_stores_are_known_also_as_paths(text: str) -> None:
    assert is_object_address(Path(text))
    assert not is_object_address("s3/local")


def test_the_command_line_takes_addresses_as_out(
    store: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    address = f"{store}/shell"
    for rank in (1, 2):
        ran = here("parse", inputs, "-o", address, "--layout", "rules", "--partition", f"{rank}/2")
        assert ran.returncode == 0, ran.stderr
        assert "When all ranks are done: penstock export" in ran.stdout
    assert here("export", address, "--to", "md").returncode == 0
    names = names_at(store)
    assert sum(name.startswith("shell/markdown/") for name in names) == 9
    assert {"shell/run.json", "shell/ranks/1-of-2/run.json", "shell/ranks/2-of-2/profile.json"} <= set(names)


def test_an_address_is_no_folder_of_this_machine() -> None:
    with pytest.raises(UsageError, match="lies on an object store"):
        Out("s3://bucket/out")
