"""Starts vLLM servers, watches them and ends them: presets, probes, logs and the guard process.

vLLM runs as a command and is never imported. Requests to a running server belong to `engines.chat`.
"""
