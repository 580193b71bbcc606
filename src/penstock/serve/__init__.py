"""A run over HTTP: its documents, pages and search, and documents that are sent to be read."""
