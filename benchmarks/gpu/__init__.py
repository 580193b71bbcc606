"""Scripts that need a GPU or real vLLM servers."""
