"""Making again what a check or a reviewer refused, and nothing else."""
