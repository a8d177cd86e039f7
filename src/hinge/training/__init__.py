"""The one training loop, several problems at once, and what comes out."""

from hinge.training.best_of import BestOf
from hinge.training.certify import certify
from hinge.training.loop import train
from hinge.training.many import train_all
from hinge.training.path import Path, path, train_path
from hinge.training.result import Histories, History, Options, Outcome, Progress, Record
from hinge.training.solve import Solution, solve

__all__ = [
    "BestOf",
    "Histories",
    "History",
    "Options",
    "Outcome",
    "Path",
    "Progress",
    "Record",
    "Solution",
    "certify",
    "path",
    "solve",
    "train",
    "train_all",
    "train_path",
]
