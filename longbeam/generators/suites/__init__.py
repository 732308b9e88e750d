"""Controlled benchmarks: conversations made whole by rules, with planted facts whose gold is right by construction.

A suite is a module with a settings record and a function from (settings, draw) to a conversation, and a line in
`registry.SUITES`. What it makes is sealed, checked, exported and evaluated as any benchmark.
"""
