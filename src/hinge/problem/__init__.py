"""What is solved: rows, targets, costs, loss, the treatment of b, and the order in which rows are visited."""

from hinge.problem.intercept import Intercept, InterceptChoice, InterceptKind
from hinge.problem.loss import LOSSES, Loss, as_loss
from hinge.problem.order import Blocks, Once, Order, Permutation, as_order
from hinge.problem.problem import Floats, Integers, Problem
from hinge.problem.rows import as_rows, column_names, decision, held_still, side_by_side

__all__ = [
    "LOSSES",
    "Blocks",
    "Floats",
    "Integers",
    "Intercept",
    "InterceptChoice",
    "InterceptKind",
    "Loss",
    "Once",
    "Order",
    "Permutation",
    "Problem",
    "as_loss",
    "as_order",
    "as_rows",
    "column_names",
    "decision",
    "held_still",
    "side_by_side",
]
