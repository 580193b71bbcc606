"""Who reads a page: the choice, and the reading of what was chosen for a server. Not here: the readers."""
