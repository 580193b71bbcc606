"""Cuts an ONNX file down to what its first outputs need.

onnxruntime computes all nodes of a graph, whatever is asked for. Works on the protobuf bytes, as
onnx_fusion.py does: nothing else needs the onnx package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from penstock.engines.weights.onnx_fusion import (
    GRAPH_NODE,
    GRAPH_OUTPUT,
    MODEL_GRAPH,
    NODE_ATTRIBUTE,
    NODE_INPUT,
    NODE_OUTPUT,
    VALUE_NAME,
    texts,
)
from penstock.engines.weights.protobuf import Field, encoded_field, fields

ATTRIBUTE_GRAPHS = (6, 11)  # bodies of If and Loop, which take values of the graph around them by name


def first_outputs(model: bytes, count: int) -> bytes:
    """Returns the network with so many outputs and what they are made from. What is no ONNX comes back."""
    try:
        graph = next(field for field in fields(model, 0, len(model)) if field.number == MODEL_GRAPH)
        parts = list(fields(model, graph.start, graph.end))
        outputs = [part for part in parts if part.number == GRAPH_OUTPUT]
        wanted = {name for part in outputs[:count] for name in texts(model, part, VALUE_NAME)}
        unneeded = {part.begin for part in (*outputs[count:], *_unneeded(model, parts, wanted))}
    except (StopIteration, IndexError, ValueError):
        return model
    kept = b"".join(model[part.begin : part.end] for part in parts if part.begin not in unneeded)
    return model[: graph.begin] + encoded_field(MODEL_GRAPH, kept) + model[graph.end :]


def _unneeded(model: bytes, parts: Sequence[Field], wanted: Iterable[str]) -> Iterator[Field]:
    """Yields the nodes that nothing wanted is made from."""
    needed = set(wanted)
    # a graph lists its nodes after those that they take from
    for part in reversed([part for part in parts if part.number == GRAPH_NODE]):
        if needed.isdisjoint(texts(model, part, NODE_OUTPUT)):
            yield part
        else:
            needed.update(_taken(model, part))


def _taken(model: bytes, node: Field) -> Iterator[str]:
    """The names of all values that a node takes, also from inside of its own graphs."""
    yield from texts(model, node, NODE_INPUT)
    for attribute in fields(model, node.start, node.end):
        if attribute.number != NODE_ATTRIBUTE:
            continue
        for graph in fields(model, attribute.start, attribute.end):
            if graph.number in ATTRIBUTE_GRAPHS:
                yield from _taken_inside(model, graph)


def _taken_inside(model: bytes, graph: Field) -> Iterator[str]:
    for part in fields(model, graph.start, graph.end):
        if part.number == GRAPH_NODE:
            yield from _taken(model, part)
        elif part.number == GRAPH_OUTPUT:
            yield from texts(model, part, VALUE_NAME)
