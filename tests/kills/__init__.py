"""Every verb killed at random times: `python -m tests.kills --kills 1000`."""
