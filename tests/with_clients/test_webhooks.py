"""Our signature of a callback is checked by the library of Standard Webhooks."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs penstock-pipeline[serve]")

from penstock.serve.jobs.callbacks import signature

SECRET = b"sixteen bytes or more"
CHECK = """
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
told = json.load(sys.stdin)
try:
    Webhook(told["secret"]).verify(told["body"], told["headers"])
    print("ours")
except WebhookVerificationError:
    print("forged")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("body", "verdict"), [('{"type": "job.ended"}', "ours"), ("{}", "forged")])
def test_the_standards_library_knows_our_callbacks(body: str, verdict: str) -> None:
    venv = os.environ.get("PENSTOCK_TEST_CLIENTS")
    if not venv:
        pytest.skip("needs standardwebhooks: run `make test-clients`")
    now = int(time.time())
    headers = {
        "webhook-id": "5f0c2a7b",
        "webhook-timestamp": str(now),
        "webhook-signature": signature(SECRET, "5f0c2a7b", now, b'{"type": "job.ended"}'),
    }
    told = {"secret": "whsec_" + base64.b64encode(SECRET).decode(), "body": body, "headers": headers}
    python = Path(venv) / "bin" / "python"
    done = subprocess.run(
        [python, "-c", CHECK], input=json.dumps(told), capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == (verdict, "")
