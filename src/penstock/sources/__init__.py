"""Lists what users name (files, folders, lists, standard input, datasets, the Hub) as items without pixels.

Reading the pixels of a page belongs to `workers.load`.
"""

from penstock.sources.listing import MAX_PAGES, list_items
from penstock.sources.page_range import PageRange

__all__ = ["MAX_PAGES", "PageRange", "list_items"]
