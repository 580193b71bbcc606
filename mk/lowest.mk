# The oldest packages that pyproject.toml allows: a bound that nobody tries is a guess.
LOWEST_VENV := .venv-lowest

.PHONY: test-lowest
test-lowest: $(LOWEST_VENV)/.ready  ## the main commands with the oldest packages that we say we work with
	$(LOWEST_VENV)/bin/python -m pytest -q -n 0 -p no:cacheprovider -W ignore::DeprecationWarning tests/test_commands_in_order.py

$(LOWEST_VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(PYTHON) tools/lowest_versions.py search serve photos hub > $(LOWEST_VENV)/pins.txt
	$(LOWEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(LOWEST_VENV)/pins.txt pytest pytest-timeout
	$(LOWEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(LOWEST_VENV)/bin/penstock models fetch
	@touch $@
