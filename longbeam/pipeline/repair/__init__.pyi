from .cost import checker_calls as checker_calls, render_plan as render_plan
from .plan import Rejections as Rejections, repairs_of as repairs_of
from .repairing import (
    RepairReport as RepairReport,
    left_of as left_of,
    repair as repair,
    repair_import as repair_import,
)
