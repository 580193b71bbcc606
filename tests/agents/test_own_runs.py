"""What holds several documents, and what is read another way than others, is read by a job of its own."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from penstock.agents.documents import AgentDocuments
from penstock.agents.files import AllowedFiles
from penstock.agents.tools import AgentTools
from penstock.errors import UsageError
from penstock.passes.parse import ParseOptions
from penstock.testing.fake_recipe import fake
from tests.engines.office import made_files
from tests.support.running_service import SAMPLE


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[AgentTools]:
    files, plan = AllowedFiles([], 4 << 20), fake()
    reading = ParseOptions(inputs=(), recipe=plan)
    with AgentDocuments(tmp_path / "out", plan, files, reading) as documents:
        yield AgentTools(documents, files)


def archive(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        for name, data in members.items():
            package.writestr(name.replace("__", "/") + (".pdf" if data else ".xyz"), data)
    return made.getvalue()


def parsed(tools: AgentTools, name: str, data: bytes, **more: Any) -> str:
    async def called() -> Any:
        return await tools.parse(content=base64.b64encode(data).decode(), name=name, **more)

    [text] = anyio.run(called)
    return str(text)


def test_an_agent_reads_each_document_of_an_archive(tools: AgentTools) -> None:
    packed = archive(one=SAMPLE.read_bytes(), b__two=SAMPLE.read_bytes())
    told = parsed(tools, "a.zip", packed)
    names = [line.split(":", 2)[0] + ":" + line.split(":", 2)[1] for line in told.splitlines()]
    assert [name.partition("/")[2] for name in names] == ["a.zip/one.pdf", "a.zip/b/two.pdf"]
    assert all(name in str(tools.list_documents()) for name in names)
    page, picture = tools.read_page(names[1], 1, picture=True)
    assert names[1] in str(page) and isinstance(picture, bytes)
    assert parsed(tools, "a.zip", packed) == told


def test_an_agent_chooses_how_an_office_file_is_read(tools: AgentTools) -> None:
    plain = parsed(tools, "a.xlsx", made_files.xlsx())
    chosen = parsed(tools, "a.xlsx", made_files.xlsx(), office="structure")
    assert not plain.startswith("job:") and chosen.startswith("job:")
    assert plain.partition("<!--")[2] == chosen.partition("<!--")[2] != ""


def test_a_job_of_which_nothing_was_read_says_why(tools: AgentTools) -> None:
    with pytest.raises(UsageError, match="holds no document"):
        parsed(tools, "a.zip", archive(nothing=b""))
    with pytest.raises(UsageError, match="There is no document"):
        tools.read_page(f"job:{'0' * 24}/a.zip/one.pdf", 1)
