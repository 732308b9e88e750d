"""LIGHT (BEAM, arXiv 2510.27246, section 3): episodic index, working memory and a filtered scratchpad."""
