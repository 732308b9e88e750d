"""Readers and writers of benchmarks and chats: JSONL, BEAM, LoCoMo, LongMemEval, Hugging Face, chat exports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
