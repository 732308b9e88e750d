"""Plants faults of twenty kinds in an export and measures how many of them `longbeam validate` finds.

Written from section 7 of the notes on BEAM alone (what an automatic validator would catch in the release), without a
look at `longbeam/validation`: the checks were not made for these faults, nor these faults for the checks.
"""
