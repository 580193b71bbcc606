"""Models that say how well a text answers a question. Not here: where the texts come from."""
