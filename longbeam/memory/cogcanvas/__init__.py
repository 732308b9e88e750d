"""CogCanvas (arXiv 2601.00821 v2): artifacts with a verbatim citation, linked by rules, found by words and graph.

Its author's later ablation (v3) swaps what is stored: artifacts, verbatim chunks, or both; so does `representation`.
"""
