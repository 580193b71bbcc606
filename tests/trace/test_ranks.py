"""Profiles of ranks as one: sums, time in which several worked, and a row for each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.passes.prepared_run import write_profile
from penstock.store.source_order import RANKS, rank_folders
from penstock.trace import report
from penstock.trace.cost import with_price
from penstock.trace.profile import Profile
from penstock.trace.ranks import read_run, together
from tests.support.command import here
from tests.support.profiles import profile, watched

BEGAN = "2026-11-15T10:00:00+00:00"
AFTER = "2026-11-15T10:00:40+00:00"  # when a run of BEGAN has ended


def ranks(*profiles: Profile) -> dict[str, Profile]:
    return {f"{number}-of-{len(profiles)}": one for number, one in enumerate(profiles, 1)}


def test_ranks_that_work_at_once_add_up_as_machines_do() -> None:
    slow = profile(started=BEGAN, items=38, seconds=80.0, peak_rss_mb=900.0)
    both = together(ranks(profile(started=BEGAN), slow))
    assert (both.items, both.failed, both.seconds) == (78 + 38, 4, 80.0)
    assert both.hardware.cores == 4
    assert both.peak_rss_mb == 900.0
    recognise = both.stages[1]
    assert (recognise.workers, recognise.items, recognise.calls) == (2, 160, 20)
    assert recognise.busy + recognise.starved + recognise.blocked == pytest.approx(1)
    assert recognise.capacity_per_s == pytest.approx(2 * 80 / 38.8)
    assert both.bottleneck == "recognise"


def test_ranks_one_after_another_are_one_machine() -> None:
    both = together(ranks(profile(started=AFTER), profile(started=BEGAN)))
    assert (both.started, both.seconds, both.hardware.cores) == (BEGAN, 80.0, 2)
    assert both.items_per_s == pytest.approx(profile().items_per_s)
    assert both.stages[0].workers == profile().stages[0].workers


def test_time_in_which_none_worked_does_not_count() -> None:
    tomorrow = profile(started="2026-11-16T10:00:00+00:00")
    assert together(ranks(profile(started=BEGAN), tomorrow)).seconds == 80.0


def test_each_rank_has_a_row_the_longest_first() -> None:
    made = ranks(*(profile(started=BEGAN, seconds=40.0 + number) for number in range(10)))
    told = report.render_text(together(made)).splitlines()
    assert told[-9].split() == ["10-of-10", "78", "2", "1.63", "49", "s"]
    assert told[-1] == "and 2 ranks that took less."


def test_the_bill_is_that_of_all_ranks() -> None:
    own = with_price(watched(started=BEGAN), 3.0).cost
    both = with_price(together(ranks(watched(started=BEGAN), watched(started=AFTER))), 3.0).cost
    assert own is not None and both is not None
    assert own.spent is not None
    assert both.spent == pytest.approx(2 * own.spent)
    assert both.price_per_million == pytest.approx(own.price_per_million)
    assert both.cards == own.cards


def test_a_later_run_without_ranks_is_the_last_one(tmp_path: Path) -> None:
    for name, one in ranks(profile(started=BEGAN), profile(started=BEGAN)).items():
        write_profile(one, tmp_path / RANKS / name)
    assert read_run(tmp_path, rank_folders(tmp_path)).items == 2 * 78
    write_profile(profile(started=AFTER), tmp_path)
    assert read_run(tmp_path, rank_folders(tmp_path)).items == 78


def test_a_profile_of_no_time_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="began at 'noon'"):
        together(ranks(profile(started="noon")))


def test_the_command_tells_all_ranks_and_json_has_them(tmp_path: Path) -> None:
    for name, one in ranks(profile(started=BEGAN), profile(started=BEGAN, seconds=50.0)).items():
        write_profile(one, tmp_path / RANKS / name)
    told = here("profile", tmp_path)
    assert told.returncode == 0, told.stderr
    assert "156 pages in 50 s" in told.stdout
    assert f"penstock profile {tmp_path / RANKS / '2-of-2'}" in told.stdout
    made = Profile.from_dict(json.loads(here("profile", tmp_path, "--json").stdout))
    assert [rank.name for rank in made.ranks or ()] == ["2-of-2", "1-of-2"]
    assert here("profile", tmp_path / RANKS / "1-of-2").returncode == 0
