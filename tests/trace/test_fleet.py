"""What a run would take on other cards, from what was measured on one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.trace import report
from penstock.trace.cost import Price, cost
from penstock.trace.fleet import Cards, fleet_estimate
from penstock.trace.profile import CardProfile, GpuProfile, HardwareFacts, MeanAndPeak, Profile, StageProfile

STAGES = (
    StageProfile("load", items=100, busy=0.1, busy_s=10, capacity_per_s=20.0),
    StageProfile("read", items=100, busy=0.9, busy_s=90, capacity_per_s=2.0),
)
H200 = GpuProfile("nvml", (CardProfile(0, "NVIDIA H200", MeanAndPeak(0.9, 1.0)),))
ON_A_CARD = Profile(
    items=100, seconds=50.0, cpu_s=40.0, stages=STAGES, bottleneck="read", gpu=H200,
    hardware=HardwareFacts(cores=16, gpus=("NVIDIA H200",)),
)  # fmt: skip
WITHOUT = replace(ON_A_CARD, gpu=None, cpu_s=90.0, hardware=HardwareFacts(cores=2))


def test_eight_cards_are_eight_times_one_and_cost_the_same() -> None:
    one, eight = (
        fleet_estimate(ON_A_CARD, 1000, Cards.parse(f"h200x{n}"), Price.parse("3.60")) for n in (1, 8)
    )
    assert one.per_second == pytest.approx(2.0)
    assert eight.per_second == pytest.approx(16.0)
    assert one.hours == pytest.approx(500 / 3600)
    assert one.price == eight.price == pytest.approx(0.5)
    assert one.price_per_million == pytest.approx(500.0)
    assert [(limit.stage, limit.per_second) for limit in eight.stages] == [("read", 16.0), ("load", 160.0)]


def test_opening_the_models_is_paid_by_every_card() -> None:
    slow_start = replace(ON_A_CARD, stages=(replace(STAGES[0], open_s=10.0), STAGES[1]))
    found = fleet_estimate(slow_start, 1000, Cards.parse("8"))
    assert found.hours * 3600 == pytest.approx(10 + 1000 * 0.4 / 8)
    assert found.price is None and found.kind == "NVIDIA H200"


def test_what_is_full_is_to_be_bought() -> None:
    on_a_card = fleet_estimate(ON_A_CARD, 0, Cards("", 1))
    assert on_a_card.buy_for == "read"
    assert on_a_card.advice.startswith("Buy cards for read: they are busy 90 %.")
    assert "10.0 times as fast waits for load" in on_a_card.advice
    assert fleet_estimate(WITHOUT, 0, Cards("cpu", 1)).advice.startswith("Buy cores for read")
    idle = replace(WITHOUT, cpu_s=10.0)
    assert fleet_estimate(idle, 0, Cards("cpu", 1)).advice.startswith("Buy nothing yet")


def test_one_drivers_books_are_named_where_they_are_the_limit() -> None:
    assert "--partition" not in fleet_estimate(ON_A_CARD, 0, Cards("h200", 4000)).advice
    assert "--partition" in fleet_estimate(ON_A_CARD, 0, Cards("h200", 5000)).advice


@pytest.mark.parametrize(
    ("profile", "cards"), [(ON_A_CARD, "a100x8"), (WITHOUT, "h200"), (ON_A_CARD, "cpux2")]
)
def test_times_of_one_kind_say_nothing_about_another(profile: Profile, cards: str) -> None:
    with pytest.raises(UsageError, match="not on"):
        fleet_estimate(profile, 10, Cards.parse(cards))


def test_a_run_that_read_nothing_or_ran_on_a_whole_cluster_tells_nothing() -> None:
    with pytest.raises(UsageError, match="nothing was measured"):
        fleet_estimate(replace(WITHOUT, items=0, failed=3), 10, Cards("", 1))
    with pytest.raises(UsageError, match="whole cluster"):
        fleet_estimate(replace(WITHOUT, executor="ray"), 10, Cards("", 1))


@pytest.mark.parametrize("wrong", ["", "0", "h200 or so!"])
def test_what_names_no_cards_is_a_sentence(wrong: str) -> None:
    with pytest.raises(UsageError, match="names no cards"):
        Cards.parse(wrong)


def test_the_run_on_one_card_that_we_show_can_be_planned_with() -> None:
    shown = Path(__file__).parents[2] / "docs" / "examples" / "run-on-h200"
    found = fleet_estimate(report.read(shown), 1_000_000, Cards.parse("h200x8"), Price.parse("h200=3.49"))
    assert found.price == pytest.approx(found.price_per_million, rel=0.01)
    assert found.price_per_million == pytest.approx(49.2, abs=0.1)
    assert "8 x h200" in found.text()


def test_a_cluster_costs_what_all_its_cards_do() -> None:
    machine = HardwareFacts(cpu="Xeon", cores=16, memory_gib=128, gpus=("NVIDIA H200",) * 2)
    both = HardwareFacts.together((machine, machine))
    assert (both.cpu, both.cores, both.memory_gib, len(both.gpus)) == ("2 x Xeon", 32, 256, 4)
    found = cost(Profile(items=100, seconds=50.0, executor="ray", hardware=both))
    assert found is not None and found.cards == 4
    assert found.hours_per_million == pytest.approx(4 * 1e6 * 0.5 / 3600)
