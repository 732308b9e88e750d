"""What a run will cost: a rehearsal, a forecast corrected by the run, and both in words."""
