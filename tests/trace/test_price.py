"""What a run costs: by hour and card, so far, for a million pages and for the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.passes.parse import ParseOptions, parse_work
from penstock.trace.cost import Bill, Price
from penstock.trace.progress import RunState, running_line
from tests.support.made_pdf import pdf, text


def test_every_card_has_its_price() -> None:
    price = Price.parse("h200=3.49, a100=1.79")
    assert price.of(["NVIDIA H200", "NVIDIA H200", "NVIDIA A100-SXM4-80GB"]) == pytest.approx(8.77)
    assert Price.parse("2.5,h200=3.49").of(["NVIDIA L4"]) == 2.5
    assert Price.parse("0.2").of([]) == 0.2


@pytest.mark.parametrize("text", ["", "cheap", "h200=", "=3", "-1", "1e3", "h200=3.49;a100=1"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no price"):
        Price.parse(text)


def test_a_card_without_a_price_is_named() -> None:
    with pytest.raises(UsageError, match="no price for 'NVIDIA L4'"):
        Price.parse("h200=3.49").of(["NVIDIA L4"])


def test_a_bill_counts_what_was_spent_before() -> None:
    bill = Bill.of(3.6, seconds=1000, per_second=10, left=50_000, before=2.0)
    assert (bill.so_far, bill.for_a_million, bill.for_the_rest) == pytest.approx((3.0, 100.0, 5.0))
    assert bill.sentence("page") == "3.00 so far, 100 a million pages, 5.00 for the rest"


def test_the_progress_line_tells_the_bill_where_there_is_a_price() -> None:
    state = RunState(done=100, total=1000, elapsed_s=100, price=3.6)
    assert "0.10 so far, 1,000 a million pages, 0.90 for the rest" in running_line(state, 1.0)
    assert "so far" not in running_line(RunState(done=100, total=1000, elapsed_s=100), 1.0)


def test_run_json_and_the_profile_hold_the_bill(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([text("one"), text("two")]))
    options = ParseOptions(
        inputs=(str(tmp_path / "a.pdf"),), settings={"layout": "rules"}, executor="inline", price="cpu=2,9"
    )
    parse_work(options, tmp_path / "out").finish()
    cost = json.loads((tmp_path / "out" / "run.json").read_text())["cost"]
    profile = json.loads((tmp_path / "out" / "profile.json").read_text())["cost"]
    assert cost["so_far"] > 0
    assert cost["for_a_million"] > cost["so_far"]
    assert profile["price"] == cost["an_hour"]
    assert profile["price_per_million"] > 0
    parse_work(options, tmp_path / "out").finish()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["cost"]["so_far"] > cost["so_far"]
