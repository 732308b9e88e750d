"""Expected cost of a run: the rehearsal, the forecast that corrects it by the run so far, and their texts."""
