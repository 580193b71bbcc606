# The documentation site, made by mkdocs-material from docs/ and from the help texts and docstrings.
.PHONY: docs

docs: setup $(VENV)/.docs-ready  ## the documentation site, in site/; fails on a broken link
	$(BIN)/mkdocs build --strict --site-dir site

$(VENV)/.docs-ready: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]' -e packages/penstock-eval
	@touch $@
