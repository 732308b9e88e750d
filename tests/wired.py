"""The models of a test's run: a model of the test's own, within the services of the product."""

from __future__ import annotations

from longbeam.models import ChatModel, Models
from longbeam.offline import OfflineWriter
from longbeam.wiring import services


def answered_by(model: ChatModel) -> Models:
    """Return models of a run whose calls `model` answers."""
    return services().models(model)


def offline() -> Models:
    """Return models of a run whose calls the offline writer answers."""
    return answered_by(OfflineWriter())
