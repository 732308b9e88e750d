"""Abilities: one record for each, and the registry that finds them by name."""
