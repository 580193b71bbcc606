"""The plugin for vLLM, without vLLM: fakes stand for what must be refused."""
