"""Stages that make one conversation, their units of work, and the scheduling of model calls."""
