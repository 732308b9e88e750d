"""Study of trimming: the trimmer, the parts of a context, the cost of a trim, and the facts that survive it."""
