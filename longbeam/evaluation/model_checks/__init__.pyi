from .base import ModelCheck as ModelCheck, NEAREST as NEAREST, ProbeCase as ProbeCase
from .registry import MODEL_CHECKS as MODEL_CHECKS
