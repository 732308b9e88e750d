"""LIGHT (BEAM, arXiv 2510.27246, section 3): episodic index, working memory and filtered scratchpad."""
