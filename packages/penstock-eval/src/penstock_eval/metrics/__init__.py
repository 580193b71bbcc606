"""Pure functions that score one prediction against one truth; each names its paper or protocol."""
