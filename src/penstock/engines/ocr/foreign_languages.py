"""Languages whose scripts PP-OCR does not know and our network for other scripts reads (ISO 639-1)."""

FOREIGN_LANGUAGES = frozenset({
    "ru", "uk", "be", "bg", "mk", "sr", "kk", "ky", "tg", "mn", "el", "ar", "fa", "ur", "ug", "he",
    "hi", "mr", "ne", "th",
})  # fmt: skip
