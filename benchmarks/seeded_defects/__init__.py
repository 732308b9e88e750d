"""Plants faults of twenty kinds in an export and measures how many of them `longbeam validate` finds.

The faults are those that an automatic validator would find in BEAM's release (arXiv 2510.27246). Their author did not
look at `longbeam/validation`: the checks were not made for these faults, nor these faults for the checks.
"""
