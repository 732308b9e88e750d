"""Cooperative paging with keyword bookmarks (arXiv 2604.12376, v1): what does not fit is put on pages, of which
bookmarks stay, and a tool brings pages back. The paper was withdrawn by its second version, over authorship; there is
no code of its authors.
"""
