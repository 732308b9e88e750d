"""Checks that ask a model, for what no rule can tell. One module each; what they find are findings like the others.

A severity belongs to the kind of finding, as there. Who judged stands in every message: with the offline writer it is a
lexical judge, which can show that a check works and cannot stand in for a language model.
"""
