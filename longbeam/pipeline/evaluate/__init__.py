"""Memory systems and model checks over sealed conversations."""
