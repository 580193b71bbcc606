"""PDF files by PDFium: pages drawn, their words and lines. documents/ says what the words mean."""
