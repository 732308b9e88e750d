"""Conversations spread over several machines."""
