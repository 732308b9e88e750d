"""The review of a benchmark: events, the states that they fold to, and what exports take from them. No web, no HTML."""
