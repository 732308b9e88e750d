"""Routes of the review app: one function per address."""
