"""What Python programs see: arguments in Python's words, and objects that fit on a line."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import penstock
from penstock.converted.notebook import NotebookBar, notebook_bar
from penstock.converted.python_terms import python_terms
from penstock.converted.tables import DocumentTable
from penstock.errors import BadInput, Failure, UsageError
from penstock.page import Page
from penstock.passes.in_order import ParseProgress
from penstock.region import Region
from penstock.retrieval.hits import Hit
from penstock.sources.page_range import pages_text
from tests.conftest import SAMPLE
from tests.support.made_pdf import locked_pdf

LONG = "Water falls. " * 50
REGION = Region(label="text", box=(1.25, 2.5, 300.1, 40.0), index=3, content=LONG)
PAGE = Page(id="a/2", uri="a.pdf", document="a.pdf", part=2, regions=(REGION,) * 30)
SHORT_REPRS = [
    (PAGE, "<Page 3 of 'a.pdf': 30 regions>"),
    (REGION, "<Region 3 text at (1, 2, 300, 40): 'Water falls. Water falls. Water falls. W…'>"),
    (DocumentTable(2, 3, "", ()), "<DocumentTable on pages 2-3: 0 x 0 cells, ''>"),
    (
        Hit(page_id="a/2", document="a.pdf", page=3, score=0.8123, snippet=LONG, label="table"),
        "<Hit 0.812 'a.pdf' page 3 table: 'Water falls. Water falls. Water falls. Water falls. Water fa…'>",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("thing", "words"), SHORT_REPRS)
def test_a_repr_fits_on_a_line(thing: object, words: str) -> None:
    assert (repr(thing), len(words) < 110) == (words, True)


@pytest.mark.parametrize(
    ("shell", "python"),
    [
        ("--lang xx is no language.", "lang='xx' is no language."),
        ("Give its password with --password.", "Give its password with `password`."),
        ("Raise --max-pages with --retry-failed.", "Raise `max_pages` with retry_failed=True."),
        ("Leave --no-crops out.", "Leave crops=False out."),
        ("--box 1,2,3,4:chair is not a box.", "boxes=['1,2,3,4:chair'] is not a box."),
        ("Name one with --server http://host:8000.", "Name one with server='http://host:8000'."),
        ("--prompt 'two words' has no words.", "prompt='two words' has no words."),
        ("Recipe 'documents' does not take --foo.", "Recipe 'documents' does not take `foo`."),
        ("Raise --max-model-len.", "Raise `max_model_len`."),
        ("Raise the server's --max-num-seqs.", "Raise the server's --max-num-seqs."),  # not ours
        ("Run: penstock embed OUT --fresh", "Run: penstock embed OUT --fresh"),  # a command stays one
    ],
)
def test_options_of_the_shell_become_arguments(shell: str, python: str) -> None:
    assert python_terms(shell) == python


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lang": "xx"}, "lang='xx' is no language"),
        ({"server": "x"}, "does not take `server`"),
        ({"text_layer": "sometimes"}, "text_layer='sometimes'"),
    ],
)
def test_errors_name_pythons_arguments(options: dict[str, object], words: str) -> None:
    for verb in (penstock.convert, penstock.parse):
        with pytest.raises(UsageError) as raised:
            verb(SAMPLE, **options)  # type: ignore[operator]
        assert words in str(raised.value) and "--" not in str(raised.value)


def test_a_failed_page_names_pythons_arguments(tmp_path: Path) -> None:
    file = tmp_path / "locked.pdf"
    file.write_bytes(locked_pdf("open"))
    with pytest.raises(BadInput, match="Give its password with `password`"):
        penstock.convert(file)
    [page] = penstock.parse(file, layout="rules", executor="inline")
    assert isinstance(page.failure, Failure) and page.failure.advice == "Give its password with `password`."
    with penstock.convert(file, password="open", layout="rules") as doc:
        assert len(doc.pages) == 1


@pytest.mark.parametrize(
    ("pages", "text"),
    [([1], "1"), ((3, 1, 2), "1-3"), (range(3, 6), "3-5"), ({7, 9}, "7,9"), (4, "4"), ("1,3-9", "1,3-9")],
)
def test_pages_are_numbers_lists_ranges_or_words(pages: object, text: str) -> None:
    assert pages_text(pages) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("pages", [[], [0], -5, [1.5], ["1"], True, [True]])
def test_what_is_no_page_number_is_refused(pages: object) -> None:
    with pytest.raises(UsageError, match="Pages count from 1"):
        pages_text(pages)  # type: ignore[arg-type]


def test_a_list_of_pages_is_read() -> None:
    with penstock.convert(SAMPLE, pages=[1, 3], layout="rules", text_layer="always", crops=False) as doc:
        assert [page.number for page in doc.pages] == [1, 3]
    assert doc._repr_html_() == "<div><strong>sample.pdf</strong> <small>closed</small></div>"


class _Cell:
    """Keeps what a notebook's cell would show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, thing: NotebookBar, *, display_id: bool) -> _Cell:
        assert display_id
        self.update(thing)
        return self

    def update(self, thing: NotebookBar) -> None:
        self.shown.append(thing._repr_html_())


def test_a_notebook_shows_one_bar_that_changes_in_place() -> None:
    now, cell = [0.0], _Cell()
    bar = NotebookBar(cell.display, clock=lambda: now[0])
    for done in range(1, 41):
        now[0] += 0.1
        bar(ParseProgress(done=done, total=None if done < 3 else 40, failed=1))
    assert cell.shown[0].startswith("<div><progress></progress>")  # the total is not known yet
    assert cell.shown[-1].startswith('<div><progress value="40" max="40"></progress>')
    assert repr(bar) == "40 of 40 pages, 1 failed, in 4.0 s (10 pages/s)"
    assert 10 < len(cell.shown) < 20  # four times a second at most


def test_a_bar_is_shown_in_a_notebook_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook_bar() is None
    kernel, terminal = SimpleNamespace(kernel=object()), SimpleNamespace()
    for shell, is_shown in ((kernel, True), (terminal, False), (None, False)):
        module = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", module)  # type: ignore[arg-type]
        monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=None))  # type: ignore[arg-type]
        assert (notebook_bar() is not None) == is_shown
