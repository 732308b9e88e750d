from .factory import make_embedder as make_embedder
from .hashed import HashedEmbedder as HashedEmbedder
from .minilm import MiniLmEmbedder as MiniLmEmbedder
