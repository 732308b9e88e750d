"""Memory systems built from their papers, where the authors' package is missing or cannot be installed."""
