"""A memory system as somebody else would write one."""

from __future__ import annotations

from longbeam.memory.floors import FloorSettings, LastTurns
from longbeam.memory.registry import Registered

LAST_WORD = Registered(FloorSettings, LastTurns, "the last message, nothing else")
NOTHING = object()
