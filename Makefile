# One word for each thing you do here. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_OUT := demo-out
# one process more than there are cores: some tests wait for others to start, end or answer
TEST_PROCESSES ?= $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))
# what Python compiles is kept, whatever the machine says: tests start hundreds of processes that load the same
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow fuzz coverage check fix bench clean

include mk/vllm.mk
include mk/clients.mk
include mk/lowest.mk
include mk/docs.mk
include mk/dist.mk

help:  ## list these words
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready  ## a virtual environment with Penstock, its tools and the built-in models

$(VENV)/.ready: pyproject.toml packages/penstock-eval/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Penstock needs Python 3.11 or newer; set PYTHON=python3.12 or so")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e packages/penstock-eval
	# reads what the docling export writes, in a test; its pin of an old typer is for its own command line
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps docling-core==2.104.0 doclang==0.8.0
	$(BIN)/penstock models fetch
	@touch $@

demo: setup  ## parse the sample document with the built-in models and say where to look
	$(BIN)/penstock parse src/penstock/sample/sample.pdf -o $(DEMO_OUT) --fresh --export md,jsonl,searchable-pdf,overlays
	@echo
	@echo "Read   $(DEMO_OUT)/markdown/sample.md        the document as Markdown"
	@echo "       $(DEMO_OUT)/ocr_results.jsonl         every region with label, box, text, confidence"
	@echo "       $(DEMO_OUT)/crops/                    its pictures and charts"
	@echo "Look   $(DEMO_OUT)/overlays/                 boxes drawn on the pages"
	@echo "       $(DEMO_OUT)/profile.html              where the time went"

test: setup  ## everything that answers within minutes on a laptop
	$(if $(COVERAGE),PENSTOCK_READER_SANDBOX=0) $(BIN)/python $(if $(COVERAGE),-m coverage run) -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder --durations=25 -m 'not slow'

coverage: setup  ## how much of the code `make test COVERAGE=1` ran; fails if a module was never loaded
	$(BIN)/coverage combine --quiet
	$(BIN)/python tools/coverage_report.py

test-slow: setup  ## the patient ones: kill -9 in a loop, whole corpora, published data (PENSTOCK_DATA), speed
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=15 -m slow  # half of their time they wait

fuzz: setup  ## mutated files, answers and requests for FUZZ_SECONDS (3600); PENSTOCK_DATA adds real files
	$(BIN)/python -m tests.fuzz --seconds $(or $(FUZZ_SECONDS),3600) $(if $(PENSTOCK_DATA),--data $(PENSTOCK_DATA))

check: setup  ## formatting, lint, types, import rules; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file benchmarks/mypy.ini benchmarks
	$(BIN)/lint-imports

fix: setup  ## format and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## the benchmarks behind our claims; the last line of each is JSON
	@for script in benchmarks/cpu/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:  ## remove what make made
	rm -rf packages/*/build packages/*/src/*.egg-info $(VENV) $(VLLM_VENV) $(CLIENTS_VENV) $(LOWEST_VENV) $(DEMO_OUT) build dist site docs/reference .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.*
