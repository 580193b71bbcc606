"""Documents and nodes for LlamaIndex, read by Penstock."""

from llama_index.readers.penstock.node_parser import PenstockNodeParser
from llama_index.readers.penstock.reader import PenstockReader

__all__ = ["PenstockNodeParser", "PenstockReader"]
