from .hipporag import page_rank as page_rank, phrases_of as phrases_of
from .raptor import k_means as k_means
