"""A bracket around the optimum: made by evaluation, recomputed by `verify`."""

from hinge.certificate.certificate import Certificate
from hinge.certificate.evaluate import Evaluator, LocalEvaluator, Lower, Upper, trivial, unread
from hinge.certificate.per_class import Certificates, PerClass
from hinge.certificate.verify import Claim, verify

__all__ = [
    "Certificate",
    "Certificates",
    "Claim",
    "Evaluator",
    "LocalEvaluator",
    "Lower",
    "PerClass",
    "Upper",
    "trivial",
    "unread",
    "verify",
]
