"""The review web app: a JSON API and its pages over sealed conversations and an append-only log of review events."""
