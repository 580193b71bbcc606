"""DOCX, PPTX and XLSX: what they hold, and the formulas and charts in them."""
