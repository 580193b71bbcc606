"""Where items come from: files, folders, lists, standard input and datasets."""

from penstock.sources.listing import list_items
from penstock.sources.page_range import PageRange

__all__ = ["PageRange", "list_items"]
