"""A run that tests can kill: `python driver_for_kills.py PDF OUT [POISON]`, with the fake engines."""

import sys

import penstock
from penstock.testing.fake_recipe import fake


def main(pdf: str, out: str, poison: str = "") -> None:
    kills = (int(poison),) if poison else ()
    for page in penstock.parse(pdf, out=out, recipe=fake(seconds=0.005, kills=kills)):
        print(page.id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
