from .chat import ModelServer as ModelServer
