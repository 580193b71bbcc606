"""Models that find the blocks of a page. Rules without a model and reading order: documents/layout."""
