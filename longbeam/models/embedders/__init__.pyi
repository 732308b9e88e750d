from .factory import (
    Embedder as Embedder,
    HashedEmbedder as HashedEmbedder,
    make_embedder as make_embedder,
    vectors_of as vectors_of,
)
from .minilm import MiniLmEmbedder as MiniLmEmbedder
