"""Stand-ins that obey the real contracts, for making faults happen: in our tests and in yours.

Nothing here is for production: no recipe, stage or engine outside this package names one of these.
"""

FAKE = "penstock.testing.fake_recipe:fake"  # a recipe without models: real sources, made-up regions
