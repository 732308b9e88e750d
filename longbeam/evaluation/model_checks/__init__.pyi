from .base import NEAREST as NEAREST, ModelCheck as ModelCheck, ProbeCase as ProbeCase
from .registry import MODEL_CHECKS as MODEL_CHECKS
