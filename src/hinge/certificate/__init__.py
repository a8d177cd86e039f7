"""A bracket around the optimum: made by evaluation, recomputed by `verify`."""

from hinge.certificate.certificate import Certificate
from hinge.certificate.evaluate import Evaluator, LocalEvaluator, Lower, Upper, trivial, unread
from hinge.certificate.kernel import KernelEvaluator, evaluator_of
from hinge.certificate.per_class import Certificates, PerClass
from hinge.certificate.verify import Claim, verify

__all__ = [
    "Certificate",
    "Certificates",
    "Claim",
    "Evaluator",
    "KernelEvaluator",
    "LocalEvaluator",
    "Lower",
    "PerClass",
    "Upper",
    "evaluator_of",
    "trivial",
    "unread",
    "verify",
]
