"""What people say about the numbers of docs/quality.md; `quality.py` puts the tables between."""

INTRODUCTION = ""
WORDS: dict[str, str] = {}
