# The wheel and the source distribution, as the package index gets them.
.PHONY: dist dist-models
DIST_TOOLS := build/dist-tools

dist: setup $(DIST_TOOLS)/.ready  ## wheels and source distributions, in dist/, checked as the package index would
	rm -rf dist
	PYTHONPATH=$(DIST_TOOLS) $(PYTHON) -m build --outdir dist
	for package in packages/*/pyproject.toml; do PYTHONPATH=$(DIST_TOOLS) $(PYTHON) -m build --outdir dist $$(dirname $$package) || exit 1; done
	$(BIN)/python tools/sbom.py dist/*.whl
	PYTHONPATH=$(DIST_TOOLS) $(PYTHON) -m twine check --strict dist/*

dist-models: setup  ## wheels of the built-in models, in dist-models/, for machines that fetch nothing
	$(BIN)/penstock models fetch
	$(BIN)/penstock models fetch nanodet mobile-sam ocrsieve
	$(BIN)/python tools/models_package.py dist-models

# beside the environment and not in it: nobody needs them to work on Penstock
$(DIST_TOOLS)/.ready: mk/dist.mk
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --target $(DIST_TOOLS) 'build>=1.2' 'twine>=6'
	@touch $@
