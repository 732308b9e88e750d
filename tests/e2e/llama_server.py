"""llama.cpp's own server, from the wheel `xllamacpp`: an OpenAI-compatible endpoint that none of us wrote.

Run as `python -m tests.e2e.llama_server MODEL.gguf`; prints `LISTENING` and the address, and serves until it is killed.
"""

from __future__ import annotations

import sys
import threading

import xllamacpp

SLOTS, CONTEXT = 8, 49_152


def main() -> None:
    """Serve a model on a free port of 127.0.0.1."""
    settings = xllamacpp.CommonParams()
    settings.model.path = sys.argv[1]
    settings.model_alias = {"tiny"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_parallel, settings.n_ctx = SLOTS, SLOTS * CONTEXT
    # One thread: with more, they wait for each other in a loop, which takes all the time on a busy machine.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    settings.use_jinja = True
    sampling = settings.sampling
    sampling.seed, sampling.top_k, sampling.top_p, sampling.min_p = 1, 0, 1.0, 0.0  # the model as it is
    server = xllamacpp.Server(settings)
    print("LISTENING", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
