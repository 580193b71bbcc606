"""The client for vision-language model servers: requests, retries, limits, and the models it knows.

Servers are started elsewhere (`engines.vllm`); this package only talks to them.
"""
