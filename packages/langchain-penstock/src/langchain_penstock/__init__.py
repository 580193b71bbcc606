"""Documents for LangChain, read by Penstock."""

from langchain_penstock.loader import PenstockLoader

__all__ = ["PenstockLoader"]
