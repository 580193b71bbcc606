"""Folders full of somebody's files and links, and the verbs run in them: nothing of theirs may change."""
