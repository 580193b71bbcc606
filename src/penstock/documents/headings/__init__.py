"""Tells headings by their type and their wording, and what their numbers say of levels."""
