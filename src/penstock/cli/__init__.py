"""The command line: one file a verb, imported when it is called.

Nothing heavy is imported here, so that `penstock --help` answers at once.
"""

from penstock.cli.app import main

__all__ = ["main"]
