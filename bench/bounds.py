"""What bounds each row, one sentence each: shown below its table by ``make bench ROW=page``."""

from __future__ import annotations

BOUNDS: dict[str, str] = {
    "file-to-topic-1": "",
    "file-to-topic-2": "",
    "topic-to-file": "",
    "latency-active": "",
    "latency-idle": "",
    "start-up": "",
    "memory-after-start": "",
    "memory-idle": "",
    "memory-busy": "",
    "idle-200": "",
    "idle-growth": "",
}
