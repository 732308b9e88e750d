"""Checks over conversations, probes and benchmarks. Each returns what it found and edits nothing."""
