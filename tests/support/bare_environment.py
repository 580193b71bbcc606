"""Virtual environments that hold what pip installs for Penstock and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import DISTRIBUTION

# touches every public name and every verb's help, and says what it found, in one process
NAMES_AND_HELP = """
import contextlib, importlib.util, io, json, sys
from pathlib import Path
import penstock
from penstock.cli.app import VERBS, app
from penstock.extras import EXTRAS

names = [name for name in penstock.__all__ if getattr(penstock, name) is not None]
helped = []
for verb in VERBS:
    allowed = (SystemExit, penstock.MissingModel)
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(*allowed):
        app([verb, "--help"])
    helped += [verb] if "Usage: " in said.getvalue() else []
modules = {module for modules in EXTRAS.values() for module in modules}
homes = [Path(place).resolve() for place in sys.path if "site-packages" in place]
print(json.dumps({
    "names": names,
    "helped": helped,
    "installed": sorted(module for module in modules if importlib.util.find_spec(module)),
    "outside": [str(home) for home in homes if not any(root in home.parents for root in ROOTS)],
}))
"""


@dataclass(frozen=True, slots=True)
class Bare:
    """An environment, and those that it lies upon and sees."""

    home: Path
    upon: tuple[Bare, ...] = ()

    @property
    def site(self) -> Path:
        return next((self.home / "lib").glob("python*")) / "site-packages"

    def shell(self, settings: dict[str, str]) -> dict[str, str]:
        """Returns the settings with this environment's programs first."""
        return {**settings, "PATH": f"{self.home / 'bin'}{os.pathsep}{settings['PATH']}"}

    def run(
        self, words: Sequence[str], folder: Path, settings: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        command = [str(self.home / "bin" / "python"), *words]
        return subprocess.run(
            command, cwd=folder, env=self.shell(settings), capture_output=True, text=True, timeout=300
        )

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        """Runs code that knows in ROOTS where this environment's packages may lie."""
        roots = [str(place.home) for place in (self, *self.upon)]
        known = f"from pathlib import Path\nROOTS = [Path(root).resolve() for root in {roots!r}]\n"
        return self.run(["-I", "-c", known + code], self.home, {"PATH": "", "HOME": str(self.home)})


def make_bare(home: Path, wheel: Path, extra: str = "", upon: tuple[Bare, ...] = ()) -> Bare:
    """Makes an environment without pip and installs the wheel with an extra.

    pip installs what those below it do not have yet, and takes our other wheel from the same folder.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    made = Bare(home, upon)
    if upon:
        (made.site / "upon.pth").write_text("".join(f"{bare.site}\n" for bare in upon))
        _write_command(made)
    what = f"{DISTRIBUTION}[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [*pip, "--no-compile", "--disable-pip-version-check", "--find-links", str(wheel.parent), what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return made


def _write_command(bare: Bare) -> None:
    """Writes the command `penstock`, which pip wrote into the base alone."""
    command = bare.home / "bin" / "penstock"
    command.write_text(f'#!/bin/sh\nexec "{bare.home / "bin" / "python"}" -m penstock "$@"\n')
    command.chmod(0o755)
