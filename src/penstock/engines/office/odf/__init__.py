"""OpenDocument: texts and presentations, sheets, styles."""
