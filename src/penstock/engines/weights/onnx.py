"""Opens ONNX models for the built-in engines: quiet, with bounded threads and memory.

Threads share sessions (`run` is thread-safe). What onnxruntime raises becomes an EngineError or OpenError
here and nowhere else.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import EngineError, OpenError, first_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
QUIET = 4  # onnxruntime's "fatal only": what matters is raised


@dataclass(frozen=True, slots=True)
class PackedGraph:
    """A graph that comes with the package; its weights lie in a published file. tools/models makes it."""

    packed: Path  # zlib
    weights: Path
    content: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", zlib.decompress(self.packed.read_bytes()))


Model = Path | bytes | PackedGraph


def open_session(model: Model, threads: int = 1, *, arena: bool = False, name: str = "") -> Any:
    """Opens an onnxruntime.InferenceSession on `threads` cores of the CPU.

    `arena` keeps the memory of one run for the next: about 10 % faster for the layout model, and flat
    when every input has the same shape. With shapes that vary it only ever grows, so it is off.
    Errors call a model given as bytes `name`.
    """
    import onnxruntime

    onnxruntime.set_default_logger_severity(QUIET)
    onnxruntime.disable_telemetry_events()  # for a program that imported it before us
    options = onnxruntime.SessionOptions()
    options.log_severity_level = QUIET
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    options.enable_mem_pattern = False  # plans for one shape; no gain measured, grows with others
    # idle threads that spin would take the cores of the other engines
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # processors without VNNI add products of 8 bits in 16: sums run over, and letters are lost
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        if isinstance(model, PackedGraph):  # onnxruntime follows no link out of the folder
            options.add_session_config_entry(WEIGHTS_FOLDER, str(model.weights.resolve().parent))
        return onnxruntime.InferenceSession(_content(model), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # onnxruntime's exceptions share no base but this
        advice = "Run: penstock models verify"
        raise OpenError(f"onnxruntime cannot open {_name(model, name)}: {first_line(exc)}", advice) from exc


_open_sessions: weakref.WeakValueDictionary[tuple[bytes, int, bool], Any] = weakref.WeakValueDictionary()
_opening = threading.Lock()


def _shared_session(model: Model, threads: int, arena: bool, name: str) -> Any:
    """Returns the open session of this model, or opens one.

    Two stages of one process that use the same model share its memory: 150 MB for the recogniser.
    """
    key = (hashlib.blake2b(_content(model)).digest(), threads, arena)
    with _opening:
        session = _open_sessions.get(key)
        if session is None:
            session = _open_sessions[key] = open_session(model, threads, arena=arena, name=_name(model, name))
        return session


class Network:
    """One open model with one input. Thread-safe; close it to free its memory."""

    def __init__(self, model: Model, threads: int = 1, *, arena: bool = False, name: str = "") -> None:
        self.name = _name(model, name)
        self._session = _shared_session(model, threads, arena, name)
        self._input: str = self._session.get_inputs()[0].name

    def __call__(self, batch: Floats) -> list[Floats]:
        session = self._session
        if session is None:
            raise EngineError(f"{self.name} was closed and cannot run.")
        try:
            outputs: list[Floats] = session.run(None, {self._input: batch})
        except Exception as exc:  # onnxruntime's exceptions share no base but this
            raise EngineError(f"{self.name} failed on an input of {batch.shape}: {first_line(exc)}") from exc
        return outputs

    @property
    def metadata(self) -> dict[str, str]:
        """The file's own metadata, such as the characters a recogniser knows."""
        found: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        return found

    def close(self) -> None:
        self._session = None


def _content(model: Model) -> bytes:
    if isinstance(model, PackedGraph):
        return model.content
    return model.read_bytes() if isinstance(model, Path) else model


def _name(model: Model, name: str) -> str:
    file = model.weights if isinstance(model, PackedGraph) else model
    return name or (file.name if isinstance(file, Path) else "the model")
