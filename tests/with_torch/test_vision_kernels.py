"""The vision tower's kernels in Triton's interpreter, against the same formulas in plain torch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
pytest.importorskip("triton")

import torch

from penstock.vllm_plugin import fp8, kernels
from tests.support import vision_formulas as reference

# of the interpreter's own numpy: scalars of arrays, and the exponential that overflows on purpose
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")

EPS = 1e-5
SHAPES = ((5, 48, 3, 16), (3, 64, 2, 32), (7, 1024, 16, 64))  # rows, width, heads, size of a head


def near(value: torch.Tensor, wanted: torch.Tensor, limit: float = 1e-5) -> bool:
    return float((value.double() - wanted.double()).norm() / wanted.double().norm()) < limit


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("adding", [False, True])
def test_add_norm_adds_in_place_and_normalises_the_sum(shape: tuple[int, ...], adding: bool) -> None:
    rows, width, *_ = shape
    x, weight = torch.randn(rows, width), torch.rand(width) + 0.5
    delta = torch.randn(rows, width) if adding else None
    ours, theirs = x.clone(), x.clone()
    assert near(kernels.add_norm(ours, delta, weight, EPS), reference.add_norm(theirs, delta, weight, EPS))
    assert torch.equal(ours, theirs)
    assert torch.equal(ours, x) is not adding


@pytest.mark.parametrize("shape", SHAPES)
def test_rotate_heads_turns_queries_and_keys_and_leaves_values(shape: tuple[int, ...]) -> None:
    rows, _, heads, size = shape
    qkv = torch.randn(rows, 3 * heads * size)
    q_weight, k_weight = torch.rand(size) + 0.5, torch.rand(size) + 0.5
    angle = torch.randn(rows, size // 2)
    ours, theirs = qkv.clone(), qkv.clone()
    for room, out in ((kernels, ours), (reference, theirs)):
        room.rotate_heads(out, q_weight, k_weight, EPS, angle.cos(), angle.sin(), heads)
    assert near(ours, theirs)
    assert torch.equal(ours[:, 2 * heads * size :], qkv[:, 2 * heads * size :])
    assert not torch.equal(ours[:, : 2 * heads * size], qkv[:, : 2 * heads * size])


@pytest.mark.parametrize("shape", SHAPES)
def test_silu_mul_gates_the_second_half(shape: tuple[int, ...]) -> None:
    rows, width, *_ = shape
    both = 3 * torch.randn(rows, 2 * width)
    assert near(kernels.silu_mul(both), reference.silu_mul(both))


def test_a_gate_far_below_zero_lets_nothing_through() -> None:
    both = torch.cat([torch.full((1, 16), -500.0), torch.ones(1, 16)], dim=1)
    assert torch.equal(kernels.silu_mul(both), torch.zeros(1, 16))


def test_eight_bits_keep_two_digits() -> None:
    weight = torch.randn(32, 64)
    bits, scale = fp8.rounded(weight)
    assert near(bits.float() * scale.t(), weight, 0.04)
    assert scale.shape == (1, 32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("adding", [False, True])
def test_add_layer_norm_takes_the_mean_away_and_adds_a_bias(shape: tuple[int, ...], adding: bool) -> None:
    rows, width, *_ = shape
    x, weight, bias = torch.randn(rows, width) + 3, torch.rand(width) + 0.5, torch.randn(width)
    delta = torch.randn(rows, width) if adding else None
    ours, theirs = x.clone(), x.clone()
    given = (delta, weight, bias, EPS)
    assert near(kernels.add_layer_norm(ours, *given), reference.add_layer_norm(theirs, *given))
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("heads", "size"), [(3, 16), (2, 36), (16, 72)])  # 72: no power of two
def test_turn_heads_leaves_the_length_of_heads_and_the_values(heads: int, size: int) -> None:
    qkv, angle = torch.randn(5, 3 * heads * size), torch.randn(5, size // 2)
    ours, theirs = qkv.clone(), qkv.clone()
    for room, out in ((kernels, ours), (reference, theirs)):
        room.turn_heads(out, angle.cos(), angle.sin(), heads)
    assert near(ours, theirs)
    assert torch.equal(ours[:, 2 * heads * size :], qkv[:, 2 * heads * size :])
    assert near(ours.view(-1, size).norm(dim=1), qkv.view(-1, size).norm(dim=1))
