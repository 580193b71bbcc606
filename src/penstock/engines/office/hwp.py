"""HWP 5 and HWP 3, by a package of the extra `hwp`.

rhwp turns both into HWPX, which is then read as any. It parses in this process, which can be killed and has
nothing to lose.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
from collections.abc import Iterator
from typing import Any

from penstock.engines.office.blocks import StructureFile
from penstock.engines.office.hwp_records import hwp_records
from penstock.engines.office.hwpx import read_hwpx
from penstock.engines.office.package import XmlPackage
from penstock.errors import BadInput, first_line, install_advice


def read_hwp(path: str) -> StructureFile:
    """Raises BadInput where the file cannot be read, and where the package that reads it is missing."""
    rhwp = rhwp_package()
    if rhwp is None:
        raise BadInput("reading HWP needs rhwp-python.", install_advice("hwp"))
    with rhwp_errors("it is encrypted.", "it is no HWP that can be read"):
        data = rhwp.parse(path).to_hwpx_bytes()
    return read_hwpx(XmlPackage(io.BytesIO(data)), hwp_records(path))


@contextlib.contextmanager
def rhwp_errors(encrypted: str, otherwise: str) -> Iterator[None]:
    """Raises BadInput for what rhwp raises: with its reason, or for a file with a password."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as exc:
        if "암호" in str(exc):
            raise BadInput(encrypted, "Save it without a password.") from exc
        raise BadInput(f"{otherwise}: {first_line(exc)}.") from exc
    except BaseException as exc:  # a panic of Rust's is no Exception, and of a class that cannot be imported
        if type(exc).__name__ != "PanicException":
            raise
        raise BadInput(f"{otherwise}: {first_line(exc)}.") from exc


def rhwp_package() -> Any:
    """Returns rhwp, or None where it is not installed or cannot be loaded."""
    with contextlib.suppress(OSError):
        # rhwp's wheel brings a FreeType that is too old for it; the system's has what it misses
        ctypes.CDLL("libfreetype.so.6", mode=ctypes.RTLD_GLOBAL)
    try:
        return importlib.import_module("rhwp")
    except ImportError:
        return None
