"""Deviations that are right as they are: requests that the OpenAPI document admits and the service refuses for good.

Each is something that JSON Schema has no word for: the state of a resource, the clock, a seal. Whatever the document
could say it must say instead. Everything that is not here fails the run.
"""

import re

from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

METHODS_OF_API_GATEWAY = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


def reason_to_accept(failure, case, response):
    """Why this failure is none, or None if it is one."""
    if isinstance(failure, UnsupportedMethodResponse) and case.method.upper() not in METHODS_OF_API_GATEWAY:
        return "API Gateway knows no such method, its ANY does not stand for it, and it answers route_not_found."
    if not isinstance(failure, RejectedPositiveData):
        return None
    problem = response.json()
    violations = [(each["field"], each["detail"]) for each in problem.get("errors", [])]
    for reason, applies in ACCEPTED.items():
        if applies(problem["code"], violations, case):
            return reason
    return None


def has_header(case, *names):
    sent = {name.lower() for name in case.headers or {}}
    return any(name in sent for name in names)


def all_are(violations, field, detail):
    """Whether there are violations, and each has this field and this detail (regular expressions)."""
    return bool(violations) and all(re.fullmatch(field, f) and re.fullmatch(detail, d) for f, d in violations)


ACCEPTED = {
    "A precondition is false for this revision: 412 is what the header asks for (RFC 9110 §13.1), an empty one included.": (
        lambda code, _, case: code == "precondition_failed" and has_header(case, "if-match", "if-none-match")
    ),
    "Cursors are sealed by the service: one that was made up is refused, an empty one too.": (
        lambda code, _, case: code == "invalid_cursor"
        and any("cursor" in part for part in (case.query, case.body) if isinstance(part, dict))
    ),
    "An Idempotency-Key that came with another request before is refused with 422.": (
        lambda code, _, case: code == "idempotency_key_reused" and has_header(case, "idempotency-key")
    ),
    "Whether expires_at has passed depends on the clock.": (
        lambda code, violations, case: all_are(violations, r"expires_at", r"must be in the future")
    ),
    "Whether there is a base_revision depends on the document.": (
        lambda code, violations, case: all_are(violations, r"base_revision", r"is greater than the revision of the document")
    ),
    "No pattern can tell that a day exists, or that an offset leads out of the years from 1970 to 9999.": (
        lambda code, violations, case: all_are(violations, r".*(_at|since|until|from|to)", r"must be an ISO 8601 date-time.*")
        and not re.search(r'"0\d{3}-|"1[0-8]\d\d-|"19[0-6]\d-', str(case.body))
    ),
    "Whether a window is reversed or too long depends on both of its ends.": (
        lambda code, violations, case: all_are(violations, r"until", r"must not be before since")
        or all_are(violations, r"from", r"must be (before to|at most \d+ (hour|day)s before to)")
    ),
    "No pattern can tell that the host bits of a network are zero, or that two spellings are one address.": (
        lambda code, violations, case: all_are(violations, r"cidrs\[\d+\]", r".*")
        and all(re.fullmatch(r"[0-9A-Fa-f.:]+(/[0-9]+)?", each) for each in case.body["cidrs"])
    ),
}
