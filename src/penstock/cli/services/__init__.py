"""Verbs that answer until they are stopped, and where they listen."""
