"""llama.cpp's own server in a process of its own, started by `models.gguf`.

The settings come as one line of JSON on stdin; the address, or the reason why there is none, goes as one line of JSON
to stdout. The process ends when its stdin ends, so it never outlives the process that started it, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any


def main() -> None:
    """Serve a model on a free port of 127.0.0.1 until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the starter's: it awaits the replies on their way
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what llama.cpp prints belongs into the log
    settings = json.loads(sys.stdin.readline())
    watch = threading.Thread(target=_end_with_stdin, daemon=True)
    watch.start()
    try:
        server = _started(settings)
        answer = {"address": server.listening_address}
    except Exception as exc:  # noqa: BLE001 - the seam to llama.cpp; the starter reports the reason
        answer = {"error": " ".join(str(exc).split()) or type(exc).__name__}
    print(json.dumps(answer), file=answers, flush=True)
    if "address" in answer:
        watch.join()


def _started(given: dict[str, Any]) -> Any:  # Any: xllamacpp has no types
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = given["path"]
    settings.model_alias = {given["alias"]}
    settings.hostnames, settings.port, settings.api_keys = ["127.0.0.1"], 0, [given["key"]]
    settings.ui = settings.endpoint_slots = False
    settings.n_parallel, settings.n_ctx = given["slots"], given["slots"] * given["context"]
    if given["threads"] is not None:
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = given["threads"]
    if given["gpu_layers"] is not None:
        settings.n_gpu_layers = given["gpu_layers"]
    settings.use_jinja = True
    settings.default_template_kwargs = {"enable_thinking": json.dumps(given["reasoning"])}
    settings.warmup = False
    return xllamacpp.Server(settings)


def _end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
