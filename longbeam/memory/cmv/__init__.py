"""Contextual Memory Virtualisation (arXiv 2602.22402): agent sessions as a DAG of snapshots and branches, and trimming.

A layer over session files, not a retriever: as a memory system, its reader sees the trimmed transcript.
"""
