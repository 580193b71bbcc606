"""A small Hugging Face Hub in memory: enough for the real client to download, create, upload and list.

Speaks what huggingface_hub asks of datasets without Xet: facts, trees, downloads, uploads by LFS, commits.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.local_server import LocalServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LFS_ABOVE = 4_096
BAD_TOKEN = "hf_of_nobody"


class Hub(LocalServer):
    """The repositories: files by name. `asked` are the routes that came, `tokens` what came with them."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.blobs: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.tokens: set[str] = set()
        super().__init__(self._handler())

    def add(self, repo: str, folder: Path) -> None:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        self.repos[repo] = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    def _handler(hub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self._answer()

            do_HEAD = do_POST = do_PUT = do_GET

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                hub.asked.append(f"{self.command} {self.path}")
                hub.tokens.add(self.headers.get("Authorization", ""))
                status, value, headers = hub.route(
                    self.command, self.path, body, self.headers.get("Authorization", "")
                )
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        return Handler

    def route(self, method: str, path: str, body: bytes, token: str = "") -> tuple[int, Any, dict[str, str]]:
        parts = urlsplit(path)
        name, query = unquote(parts.path), parse_qs(parts.query)
        if name == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}, {}
        if name == "/api/whoami-v2":
            return (200, {"name": "me"}, {}) if token != f"Bearer {BAD_TOKEN}" else (401, {"error": "no"}, {})
        if name == "/api/repos/create":
            return self._create(json.loads(body))
        if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/[^/]+/(.+)", name):
            return self._file(match[1], match[2])
        if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", name):
            return self._batch(json.loads(body))
        if match := re.fullmatch(r"/lfs/(\w+)", name):
            self.blobs[match[1]] = body
            return 200, {}, {}
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/(.*))?", name):
            return self._api(match[1], match[2] or "", body, query)
        return 404, {"error": f"no route {name}"}, {}

    def _create(self, wanted: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        repo = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
        known = repo in self.repos
        self.repos.setdefault(repo, {})
        self.private.setdefault(repo, wanted.get("private") or wanted.get("visibility") == "private")
        address = {"url": f"{self.url}/datasets/{repo}", "id": repo, "name": repo}
        return (409 if known else 200), address, {}

    def _api(self, repo: str, rest: str, body: bytes, query: Any) -> tuple[int, Any, dict[str, str]]:
        if repo not in self.repos:
            return 404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"}
        files = self.repos[repo]
        if not rest or re.fullmatch(r"revision/[^/]+", rest):
            siblings = [{"rfilename": name} for name in files]
            return 200, {"id": repo, "sha": COMMIT, "siblings": siblings, "private": True, "tags": []}, {}
        if rest.startswith("tree/"):
            return 200, [_entry(name, data) for name, data in files.items()], {}
        if rest.startswith("paths-info/"):
            wanted = json.loads(body)["paths"]
            return 200, [_entry(name, files[name]) for name in wanted if name in files], {}
        if rest.startswith("preupload/"):
            asked = json.loads(body)["files"]
            modes = [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["size"] > LFS_ABOVE else "regular",
                    "shouldIgnore": False,
                    "oid": _entry(file["path"], files[file["path"]])["oid"]
                    if file["path"] in files
                    else None,
                }
                for file in asked
            ]
            return 200, {"files": modes, "commitOid": COMMIT}, {}
        if rest.startswith("commit/"):
            return self._commit(repo, body)
        return 404, {"error": f"no route {rest}"}, {}

    def _commit(self, repo: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        for line in body.splitlines():
            row = json.loads(line)
            value = row.get("value", {})
            if row["key"] == "file":
                self.repos[repo][value["path"]] = base64.b64decode(value["content"])
            elif row["key"] == "lfsFile":
                self.repos[repo][value["path"]] = self.blobs[value["oid"]]
        url = f"{self.url}/datasets/{repo}/commit/{COMMIT}"
        return 200, {"commitUrl": url, "commitOid": COMMIT, "success": True}, {}

    def _batch(self, wanted: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        objects = []
        for one in wanted["objects"]:
            upload = {"upload": {"href": f"{self.url}/lfs/{one['oid']}"}}
            known = one["oid"] in self.blobs
            objects.append({**one, "authenticated": True, **({} if known else {"actions": upload})})
        return 200, {"transfer": "basic", "objects": objects}, {}

    def _file(self, repo: str, name: str) -> tuple[int, Any, dict[str, str]]:
        data = self.repos.get(repo, {}).get(name)
        if data is None:
            return 404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"}
        etag = hashlib.sha256(data).hexdigest()
        return 200, data, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(data))}


def _entry(name: str, data: bytes) -> dict[str, Any]:
    oid = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
    return {"type": "file", "path": name, "size": len(data), "oid": oid}
