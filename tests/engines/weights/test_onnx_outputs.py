"""Claims about a network that is cut down to its first outputs. It is the one of the layout tests."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.engines.weights.onnx import open_session
from penstock.engines.weights.onnx_outputs import first_outputs
from penstock.engines.weights.protobuf import encoded_field, encoded_varint
from tests.support.made_onnx import layout_model

GIVEN = {
    "image": np.zeros((1, 3, 800, 800), np.float32),
    "im_shape": np.full((1, 2), 800, np.float32),
    "scale_factor": np.ones((1, 2), np.float32),
}
ROW = (22, 0.5, 80, 400, 720, 480, 1)


def test_what_no_first_output_needs_is_not_computed() -> None:
    whole = layout_model([ROW])
    with pytest.raises(Exception, match="fetch_name_2"):
        open_session(whole).run(["fetch_name_0"], GIVEN)
    cut = open_session(first_outputs(whole, 2))
    assert [output.name for output in cut.get_outputs()] == ["fetch_name_0", "fetch_name_1"]
    rows, count = cut.run(None, GIVEN)
    assert rows[0] == pytest.approx(ROW) and count.tolist() == [1]


def test_what_an_inner_graph_takes_stays() -> None:
    """A node's inner graph takes values by name: of `outer`, of `deep`, and one as its output, `given`."""
    inner = encoded_field(1, _node("deep", "b")) + encoded_field(12, encoded_field(1, b"given"))
    body = encoded_field(5, encoded_field(6, encoded_field(1, _node("outer", "a")) + inner))
    nodes = [_node("x", name) for name in ("outer", "deep", "given", "unused")]
    nodes.append(encoded_field(2, b"out") + encoded_field(4, b"Loop") + body)
    graph = b"".join(encoded_field(1, node) for node in nodes) + encoded_field(12, encoded_field(1, b"out"))
    cut = first_outputs(encoded_field(7, graph), 1)
    assert b"unused" not in cut
    assert all(node in cut for node in nodes if b"unused" not in node)


@pytest.mark.parametrize("content", [b"", b"no model", encoded_varint(7 << 3 | 2) + b"\xff\xff\xff"])
def test_what_is_no_onnx_comes_back(content: bytes) -> None:
    assert first_outputs(content, 2) == content


def _node(takes: str, gives: str) -> bytes:
    return encoded_field(1, takes.encode()) + encoded_field(2, gives.encode()) + encoded_field(4, b"Identity")
