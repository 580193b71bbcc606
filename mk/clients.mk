# Other projects' clients in an environment of their own, for the tests under tests/with_clients. None of it is ours to ship: glmocr
# brings PyMuPDF, which is AGPL, and Open WebUI has a licence of its own.
CLIENTS_VENV := .venv-clients

.PHONY: test-clients

TYPESCRIPT := clients/typescript

test-clients: setup $(CLIENTS_VENV)/.ready $(TYPESCRIPT)/dist/client.js  ## other projects' clients (docling, Mistral, Open WebUI, RAGFlow, …) and schemathesis ask our service
	PENSTOCK_TEST_CLIENTS=$(CURDIR)/$(CLIENTS_VENV) $(BIN)/python -m pytest tests/with_clients

$(TYPESCRIPT)/dist/client.js: $(wildcard $(TYPESCRIPT)/src/*.ts) $(TYPESCRIPT)/package.json
	cd $(TYPESCRIPT) && npm install --silent --ignore-scripts && npm run --silent build

FRAMEWORKS := langchain-penstock llama-index-readers-penstock penstock-haystack

$(CLIENTS_VENV)/.ready: tests/with_clients/pins.txt tests/with_clients/pins_alone.txt $(FRAMEWORKS:%=packages/%/pyproject.toml)
	$(PYTHON) -m venv $(CLIENTS_VENV)
	echo '*' > $(CLIENTS_VENV)/.gitignore
	$(CLIENTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/with_clients/pins.txt
	$(CLIENTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r tests/with_clients/pins_alone.txt
	$(CLIENTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e . $(FRAMEWORKS:%=-e packages/%)
	@touch $@
