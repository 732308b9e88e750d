"""Checks that ask a model, for what no rule can tell. One module each; what they find are findings like the others.

A severity belongs to the kind of finding, as there. Every message names the judge. A lexical judge can
show that a check works; it cannot stand in for a language model.
"""
