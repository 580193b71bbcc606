"""DeepSeek-OCR models: prompts, resolutions, the ways to read a page again, and readers by transformers.

Not their servers (see engines/vllm) and not what their answers mean (see documents/grounding).
"""
