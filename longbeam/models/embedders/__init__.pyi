from .factory import HashedEmbedder as HashedEmbedder, make_embedder as make_embedder
from .minilm import MiniLmEmbedder as MiniLmEmbedder
