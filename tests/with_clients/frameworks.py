"""Answers a question over a document with a framework and our package for it, where both are installed.

    python frameworks.py langchain QUESTION FILE OUT

OUT is a kept run of FILE. Prints JSON: the text that answers, its metadata, and how many pieces there are.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

DIMENSIONS = 512


def vector(text: str) -> list[float]:
    """Returns a vector of a text's words. The frameworks want an embedder, and are what is tested here."""
    counts = Counter(sum(word.encode()) % DIMENSIONS for word in re.findall(r"\w{4,}", text.lower()))
    length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
    return [counts[place] / length for place in range(DIMENSIONS)]


def langchain(question: str, file: Path, out: Path) -> dict[str, Any]:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_penstock import PenstockLoader

    class Words(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return vector(text)

    documents = PenstockLoader(str(file), layout="rules").load()
    kept = PenstockLoader(out=out).load()
    assert [found.metadata for found in kept] == [found.metadata for found in documents]
    store = InMemoryVectorStore.from_documents(documents, Words())
    [best] = store.as_retriever(search_kwargs={"k": 1}).invoke(question)
    return {"text": best.page_content, "metadata": best.metadata, "pieces": len(documents)}


def llama_index(question: str, file: Path, out: Path) -> dict[str, Any]:
    from llama_index.core import MockEmbedding, VectorStoreIndex

    from llama_index.readers.penstock import PenstockNodeParser, PenstockReader

    class Words(MockEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return vector(text)

        def _get_query_embedding(self, query: str) -> list[float]:
            return vector(query)

    documents = PenstockReader(unit="document", options={"layout": "rules"}).load_data(str(file))
    nodes = PenstockNodeParser().get_nodes_from_documents(documents)
    chunks = PenstockReader().load_data(out=out)
    assert [chunk.metadata for chunk in chunks] == [node.metadata for node in nodes]
    assert all(node.ref_doc_id == documents[0].id_ for node in nodes)
    index = VectorStoreIndex(nodes, embed_model=Words(embed_dim=DIMENSIONS))
    [best] = index.as_retriever(similarity_top_k=1).retrieve(question)
    return {"text": best.text, "metadata": best.metadata, "pieces": len(nodes)}


def haystack(question: str, file: Path, out: Path) -> dict[str, Any]:
    from haystack import Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.components.writers import DocumentWriter
    from haystack.dataclasses import ByteStream
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    from haystack_integrations.components.converters.penstock import PenstockConverter

    store = InMemoryDocumentStore()
    indexing = Pipeline()
    converter = PenstockConverter(options={"layout": "rules"})
    indexing.add_component("convert", PenstockConverter.from_dict(converter.to_dict()))
    indexing.add_component("write", DocumentWriter(store))
    indexing.connect("convert.documents", "write.documents")
    bytes_of_it = ByteStream.from_file_path(file, meta={"file_name": "copy.pdf"})
    pieces = indexing.run({"convert": {"sources": [bytes_of_it, file]}})["write"]["documents_written"]
    only = {"field": "meta.source", "operator": "==", "value": file.name}
    [best] = InMemoryBM25Retriever(store).run(question, filters=only, top_k=1)["documents"]
    assert {found.meta["source"] for found in store.filter_documents()} == {"copy.pdf", file.name}
    return {"text": best.content, "metadata": best.meta, "pieces": pieces // 2}


if __name__ == "__main__":
    way, question, *paths = sys.argv[1:]
    print(json.dumps(globals()[way](question, *map(Path, paths))))
