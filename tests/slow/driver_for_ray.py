"""A run on a cluster that is killed: pages of a PDF, read slowly by the fake recipe."""

import sys

from penstock import sources
from penstock.executors.ray import Ray
from penstock.page import Page
from penstock.testing.fake_recipe import fake

for page in Ray().stream(fake(seconds=60.0), sources.list_items([sys.argv[1]], Page)):
    print(page.id, flush=True)
