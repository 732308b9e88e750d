"""The manual endpoint: an OpenAI-compatible address whose replies people or other programs write."""
