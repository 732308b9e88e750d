from .answers import answer as answer
from .requests import Request as Request
from .server import LoopbackServer as LoopbackServer, listening as listening, serve as serve
from .settings import ServerSettings as ServerSettings, parse_settings as parse_settings
