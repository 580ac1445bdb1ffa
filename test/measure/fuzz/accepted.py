"""Accepted deviations: requests that match the OpenAPI document and that the service correctly rejects, or the other way round.

Each depends on something that JSON Schema cannot express, such as the state of a resource, the clock or a signature.
If the document can express a rule, it must. Every other deviation fails the run.
"""

import re

from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

METHODS_OF_API_GATEWAY = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


def reason_to_accept(failure, case, response):
    """Return the reason to accept a failure, or None if it is a failure."""
    if isinstance(failure, UnsupportedMethodResponse) and case.method.upper() not in METHODS_OF_API_GATEWAY:
        return "API Gateway does not support this method and returns route_not_found: ANY does not include it."
    if isinstance(failure, AcceptedNegativeData) and has_rejected_push(response):
        return "An invalid push is rejected in the results of its request, so that it does not stop the others."
    if not isinstance(failure, RejectedPositiveData):
        return None
    problem = response.json()
    violations = [(each["field"], each["detail"]) for each in problem.get("errors", [])]
    for reason, applies in ACCEPTED.items():
        if applies(problem["code"], violations, case):
            return reason
    return None


def has_rejected_push(response):
    """Return whether a response has the result of an invalid push."""
    body = response.json() if response.status_code == 200 else {}
    return any(each.get("code") == "invalid_request" for each in body.get("results", []))


def has_header(case, *names):
    sent = {name.lower() for name in case.headers or {}}
    return any(name in sent for name in names)


def all_are(violations, field, detail):
    """Return whether there are violations, and each matches both regular expressions."""
    return bool(violations) and all(re.fullmatch(field, f) and re.fullmatch(detail, d) for f, d in violations)


ACCEPTED = {
    "A precondition that is false for the revision gets a 412 (RFC 9110, section 13.1), and so does an empty one.": (
        lambda code, _, case: code == "precondition_failed" and has_header(case, "if-match", "if-none-match")
    ),
    "Schemathesis takes a text without quotes for a valid precondition, although its pattern in the document excludes it.": (
        lambda code, violations, case: all_are(violations, r"If-(None-)?Match", r"must be \* or ETags in double quotes.*")
        and not any('"' in str(value) for name, value in case.headers.items() if name.lower().startswith("if-"))
    ),
    "Cursors are encrypted by the service, so an invented or empty cursor is invalid.": (
        lambda code, _, case: code == "invalid_cursor"
        and any("cursor" in part for part in (case.query, case.body) if isinstance(part, dict))
    ),
    "An Idempotency-Key that was used for a different request gets a 422.": (
        lambda code, _, case: code == "idempotency_key_reused" and has_header(case, "idempotency-key")
    ),
    "Whether expires_at is in the future depends on the clock.": (
        lambda code, violations, case: all_are(violations, r"expires_at", r"must be in the future")
    ),
    "Whether occurred_at is recent depends on the clock.": (
        lambda code, violations, case: all_are(
            violations, r"(events\[\d+\]\.)?occurred_at", r"must be at most 30 days ago, and not in the future"
        )
    ),
    "A pattern cannot check every spelling of an IP address.": (
        lambda code, violations, case: all_are(violations, r"address", r"must be an IPv4 or IPv6 address")
        and re.fullmatch(r"[0-9A-Fa-f.:]+", case.body["address"])
    ),
    "Whether an email address belongs to the project depends on its settings.": (
        lambda code, violations, case: all_are(violations, r"email", r"must be an address of the project")
    ),
    "A pattern cannot check that a day exists, or that the year stays between 1970 and 9999 after the offset is applied.": (
        lambda code, violations, case: all_are(violations, r".*(_at|since|until|from|to)", r"must be an ISO 8601 date-time.*")
        and not re.search(r'"0\d{3}-|"1[0-8]\d\d-|"19[0-6]\d-', str(case.body))
    ),
    "Whether a period is reversed or too long depends on both of its ends.": (
        lambda code, violations, case: all_are(violations, r"until", r"must not be before since")
        or all_are(violations, r"from", r"must be (before to|at most \d+ (hour|day)s before to)")
    ),
    "The schema of a sync does not contain which members exclude each other, because generators lose members next to alternatives.": (
        lambda code, violations, case: all_are(
            violations, r"patterns?|known", r"is required|must not be sent together with (pattern|since)"
        )
    ),
    "JSON Schema cannot compare the ids of two entries, or count the entries of two lists.": (
        lambda code, violations, case: all_are(
            violations, r"opened|closed", r"must have (each id once|at most \d+ entries together with .*)"
        )
    ),
    "A pattern cannot check that the host bits of a network are zero, or that two spellings are the same address.": (
        lambda code, violations, case: all_are(violations, r"cidrs\[\d+\]", r".*")
        and all(re.fullmatch(r"[0-9A-Fa-f.:]+(/[0-9]+)?", each) for each in case.body["cidrs"])
    ),
}
