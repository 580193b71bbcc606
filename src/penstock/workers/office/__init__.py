"""Makes pages of what files say themselves."""
