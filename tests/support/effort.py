"""What a computation costs, in CPU seconds of this thread: others on the machine do not count.

For bounds that only a cost of another order passes, such as a square for a line.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began
