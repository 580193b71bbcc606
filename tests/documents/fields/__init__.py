"""Claims about fields by a schema."""
