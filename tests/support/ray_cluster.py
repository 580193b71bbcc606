"""A Ray cluster of several nodes on this machine."""

from __future__ import annotations

import logging
import os
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
    with warnings.catch_warnings(), waiting:
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


def own_ports() -> dict[str, int]:
    """Returns ports for a node's agents. Where Ray chooses them, it waits 15 s for the agents to begin."""
    agents = (
        "metrics_agent_port",
        "metrics_export_port",
        "runtime_env_agent_port",
        "dashboard_agent_listen_port",
    )
    return {agent: free_port() for agent in agents}
