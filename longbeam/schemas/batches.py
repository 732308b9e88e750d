"""The record of a batch: calls that an endpoint received together, to be answered within a day at a lower price."""

from __future__ import annotations

from longbeam.schemas.base import Record


class BatchEntry(Record):
    """A batch on its way. It is recorded before the endpoint hears of it, and again when the endpoint has named it."""

    token: str
    """Name that longbeam gives the batch; the endpoint keeps it, so that a batch is found whose answer was lost."""
    model: str
    """Identity of the model, wherever it is served."""
    request_ids: tuple[str, ...]
    """Ids of the calls: hashes of their keys and length limits."""
    batch_id: str = ""
    """Name that the endpoint gave the batch; empty until its answer came."""
