"""One reading of natural language for all packages: values, units, dates, sentences, words, traces."""
