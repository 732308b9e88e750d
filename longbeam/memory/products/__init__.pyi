from .base import QUIET as QUIET
from .chat import ModelServer as ModelServer
