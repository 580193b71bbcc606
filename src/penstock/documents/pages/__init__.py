"""Pages with a task of their own, and what shows only over all pages of a document."""
