"""Typed inputs and replies of every prompt, one module per stage: the contract between stages and templates."""
