"""What bounds the servers of a run, what to change, and what a million pages take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.trace import cost
from penstock.trace.bounds import Limits, bounds
from penstock.trace.bounds import sentence as numbers_of
from penstock.trace.profile import (
    CardProfile,
    GpuProfile,
    MeanAndPeak,
    Profile,
    RunCost,
    ServerBounds,
    ServerProfile,
    ServersProfile,
    StageProfile,
)


def server(running: float = 250.0, waiting: float = 0.0, kv: float = 0.4, **more: Any) -> ServerProfile:
    """One server's summary, by default with the numbers of a published analysis: 776 by KV, 65 a step."""
    made = {
        "url": "http://127.0.0.1:8000", "samples": 60, "running": MeanAndPeak(running, running),
        "waiting": MeanAndPeak(waiting, waiting), "kv": MeanAndPeak(kv, kv), "kv_tokens": 2_329_040,
        "requests": 1_000, "prompt_tokens": 2_000_000, "generation_tokens": 1_000_000,
    }  # fmt: skip
    return ServerProfile(**{**made, **more})


FLAGS = Limits(max_num_seqs=1_024, max_num_batched_tokens=131_072)


def found_bounds(
    servers: list[ServerProfile], limits: list[Limits], in_flight: int = 0, gpu: GpuProfile | None = None
) -> ServerBounds:
    found = bounds(servers, limits, in_flight, gpu)
    assert found is not None
    return found


def sentence(
    one: ServerProfile, limits: Limits = FLAGS, in_flight: int = 1_024, gpu: GpuProfile | None = None
) -> str:
    return found_bounds([one], [limits], in_flight, gpu).sentence


def test_the_four_bounds_are_those_of_the_analysis() -> None:
    found = found_bounds([server()], [FLAGS], in_flight=1_024)
    assert found.each == {"in_flight": 1_024, "sequences": 1_024, "kv": 776, "step": 65}
    assert found.smallest == "step"
    assert numbers_of(found) == (
        "65 prompts a step, 776 by KV cache, 1,024 allowed in flight, 1,024 sequences"
    )


def test_what_is_not_known_is_left_out() -> None:
    found = found_bounds([server(kv_tokens=None)], [Limits()])
    assert found.each == {}
    assert found.smallest is None
    assert "not known" in found.sentence
    assert found_bounds([server(requests=0)], [FLAGS], 8).each == {"in_flight": 8, "sequences": 1_024}
    half_known = found_bounds([server(), server()], [FLAGS, Limits()], 8)
    assert set(half_known.each) == {"in_flight", "kv"}


def test_servers_add_up() -> None:
    found = found_bounds([server(), server()], [FLAGS, FLAGS], in_flight=512)
    assert found.each == {"in_flight": 512, "sequences": 2_048, "kv": 1_552, "step": 131}
    assert found.running == 500


def test_no_request_means_no_bound() -> None:
    assert bounds([replace(server(), running=None)], [FLAGS], 8) is None
    assert bounds([], [], 8) is None


def test_a_server_that_is_not_fed_is_said_first() -> None:
    assert sentence(server(running=100)).startswith("The servers ran 100 of 776 and none waited")


@pytest.mark.parametrize(
    ("one", "limits", "in_flight", "said"),
    [
        (server(running=250), FLAGS, 256, "limit of 256 decides: raise --in-flight to 776."),
        (server(running=64, waiting=100), FLAGS, 256, "--max-num-batched-tokens"),
        (server(running=60, waiting=100), Limits(64, 32_768), 256, "decide: raise --max-num-seqs to 256."),
        (server(running=700), FLAGS, 1_024, "The KV cache holds 776 sequences"),
        (server(running=700, waiting=90, kv=0.97), FLAGS, 1_024, "Requests wait for KV cache, 97 % full"),
        (server(running=64, waiting=9), Limits(), 1_024, "never ran more than 64 while others waited"),
        (server(preemptions=50), FLAGS, 1_024, "50 requests had to start over"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_to_change(
    one: ServerProfile, limits: Limits, in_flight: int, said: str
) -> None:
    assert said in sentence(one, limits, in_flight)


def test_a_full_card_is_the_limit_if_it_is_the_servers_own() -> None:
    gpu = GpuProfile(cards=(CardProfile(0, load=MeanAndPeak(0.99, 1.0)), CardProfile(1)))
    assert sentence(server(running=100), gpu=gpu).startswith("The card is busy 99 %")
    elsewhere = server(running=100, url="http://10.0.0.7:8000")
    assert sentence(elsewhere, gpu=gpu).startswith("The servers ran 100 of 776")


def test_every_sentence_fits_the_terminal_twice_at_most() -> None:
    for one in (server(), server(running=700), server(waiting=500), server(preemptions=12_345)):
        assert len(sentence(one)) <= 160


def test_limits_are_read_from_a_command() -> None:
    command = (
        "vllm serve m --max-num-seqs 64 --max_num_batched_tokens=8192 --max-num-seqs=128 --max-num-seqs auto"
    )
    assert Limits.of_command(command.split()) == Limits(128, 8_192)
    assert Limits.of_command(()) == Limits()


def run(**more: Any) -> Profile:
    stages = (StageProfile("load", open_s=20.0, workers=2),)
    return replace(Profile(items=580, seconds=110.0, stages=stages, regions=4_640), **more)


def cost_of(profile: Profile) -> RunCost:
    found = cost.cost(profile)
    assert found is not None
    return found


def test_a_million_pages_pay_for_opening_once() -> None:
    found = cost_of(run())
    assert found.hours_per_million == pytest.approx((10 + 1e6 * 100 / 580) / 3600)
    assert found.regions_per_page == 8
    assert found.energy_kwh_per_million is None
    assert cost.cost(run(items=0)) is None


def test_cards_that_worked_are_paid_and_idle_ones_are_not() -> None:
    loads = (MeanAndPeak(0.9, 0.9), MeanAndPeak(0.0, 0.0), None)
    cards = tuple(CardProfile(index, load=load) for index, load in enumerate(loads))
    found = cost_of(run(gpu=GpuProfile(cards=cards, energy_wh=20.0)))
    assert found.cards == 1
    assert found.energy_kwh_per_million == pytest.approx(0.02 * (10 + 1e6 * 100 / 580) / 110)
    priced = cost.with_price(run(cost=found), 2.5).cost
    assert priced is not None
    assert priced.price_per_million == pytest.approx(2.5 * found.hours_per_million)
    said = cost.sentence(priced)
    assert said == "A million pages: 47.9 GPU hours, 120 at 2.5 an hour, 31.3 kWh; a page: 8 regions."


def test_tokens_a_page_are_those_of_all_servers() -> None:
    each = (server(), server(generation_tokens=16_000))
    found = cost_of(run(servers=ServersProfile(each)))
    assert found.generation_tokens_per_page == pytest.approx(1_016_000 / 580)
    assert "6,897 tokens in" in cost.sentence(found)
