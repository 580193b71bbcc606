"""schemathesis makes right and wrong requests of our OpenAPI description: no 5xx, nothing undocumented."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.reading.service import Service
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from tests.support.running_service import Running

# left out: `negative_data_rejection` takes no 413, which too many fields get; `positive_data_acceptance`
# wants taken what a schema cannot say (that this is base64 of a PDF)
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method"
)
MAX_EXAMPLES = 5  # for each operation, after those of its examples and bounds


@pytest.mark.slow  # two minutes: some 1,700 requests
def test_the_service_does_what_its_description_says(tmp_path: Path) -> None:
    venv = os.environ.get("PENSTOCK_TEST_CLIENTS")
    if not venv:
        pytest.skip("needs schemathesis: run `make test-clients`")
    with (
        Service(tmp_path / "out", fake()) as service,
        Running(service, reading=ParseOptions(inputs=(), recipe=FAKE)) as client,
    ):
        done = subprocess.run(
            [
                Path(venv) / "bin" / "schemathesis", "run", f"{client.url}/openapi.json", "--checks", CHECKS,
                "--phases", "examples,coverage,fuzzing", "--max-examples", str(MAX_EXAMPLES), "--seed", "1",
                "--continue-on-failure", "--no-color", "--warnings", "off", "--request-timeout", "60",
            ],
            cwd=tmp_path, capture_output=True, text=True, timeout=500,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        found = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
        assert found is not None, done.stdout
        assert int(found[1]) == int(found[2]) > 500
        assert client("/health")[0] == 200
