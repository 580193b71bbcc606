"""A node parser: DocJSON to one node a chunk, cut by sections, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, TextNode
from llama_index.core.utils import get_tqdm_iterable

import penstock
from llama_index.readers.penstock.reader import UNSEEN


class PenstockNodeParser(NodeParser):
    """Makes nodes of documents that hold DocJSON.

        documents = PenstockReader(unit="document").load_data("report.pdf")
        nodes = PenstockNodeParser().get_nodes_from_documents(documents)

    A node's id is its chunk's locator, and its metadata are those of `PenstockReader`.
    """

    @classmethod
    def class_name(cls) -> str:
        return "PenstockNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any
    ) -> list[BaseNode]:
        shown = get_tqdm_iterable(nodes, show_progress, "Parsing nodes")
        return [made for node in shown for made in _nodes_of(node)]


def _nodes_of(document: BaseNode) -> Iterator[TextNode]:
    for passage in penstock.Passage.from_docjson(document.get_content(MetadataMode.NONE)):
        yield TextNode(
            id_=passage.locator,
            text=passage.text,
            metadata=passage.metadata,
            excluded_embed_metadata_keys=UNSEEN,
            excluded_llm_metadata_keys=UNSEEN,
            relationships={NodeRelationship.SOURCE: document.as_related_node_info()},
        )
