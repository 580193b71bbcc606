"""A Ray cluster of several nodes on this machine."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from penstock.engines.vllm.server import free_port

START_S = 150  # of a node on a machine that is busy


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Gives a joined cluster: a head and one more node of one core each."""
    pytest.importorskip("ray", reason="needs penstock-pipeline[ray]")
    waiting = patch.dict(os.environ, {"RAY_raylet_start_wait_time_s": str(START_S)})
    with warnings.catch_warnings(), waiting, _listen_ports_told():
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "include_dashboard": False, **own_ports()}
        made = Cluster(initialize_head=True, head_node_args=head)
        made.add_node(num_cpus=1, **own_ports())
        ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@contextmanager
def _listen_ports_told() -> Iterator[None]:
    """Gives a raylet its dashboard agent's port. Ray 2.60 gives it to the agent alone, and a raylet that does
    not know it dies where the agent needs more than 15 s to begin."""
    from ray._private import services

    start = services.start_ray_process

    def started(command: list[str], *rest: Any, **more: Any) -> Any:
        if found := re.search(r"--listen-port=(\d+)", " ".join(command)):  # the raylet's: it starts the agent
            command = [*command, f"--dashboard_agent_listen_port={found[1]}"]
        return start(command, *rest, **more)

    with patch.object(services, "start_ray_process", started):
        yield


def own_ports() -> dict[str, int]:
    """Returns ports for a node's agents. Where Ray chooses them, it waits 15 s for the agents to begin."""
    agents = (
        "metrics_agent_port",
        "metrics_export_port",
        "runtime_env_agent_port",
        "dashboard_agent_listen_port",
    )
    return {agent: free_port() for agent in agents}
