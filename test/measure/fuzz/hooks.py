"""Schemathesis hooks: keep a run harmless and effective, and drop the failures that accepted.py accepts."""

import os
import re
import sys
from random import Random
from urllib.parse import unquote

import schemathesis

sys.path.insert(0, os.path.dirname(__file__))
from accepted import reason_to_accept  # noqa: E402

OWN_KEY = os.environ["FUZZ_OWN_KEY"]
SPARE_KEY = os.environ["FUZZ_SPARE_KEY"]
random = Random(os.environ["FUZZ_SEED"])

LOCKS_OUT = ("revokeKey", "setAllowlist", "rotateKey")
HOST = re.compile(r"^(\s*https?:[/\\]*(?:[^/\\?#]*@)?)(\[[^]]*\]|[^/\\?#:\s]*)", re.IGNORECASE)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    choose_key(case)
    deliver_to_nobody(case)
    vary_idempotency_key(case)


def choose_key(case):
    """Protect the key of the run: after it is revoked or locked out, every response is a 401 or 403."""
    if case.operation.definition.raw.get("operationId") not in LOCKS_OUT or not case.path_parameters:
        return
    if OWN_KEY.removeprefix("key_") in unquote(str(case.path_parameters.get("key"))):
        case.path_parameters["key"] = SPARE_KEY


def deliver_to_nobody(case):
    """Keep events away from real hosts: names under `.invalid` never resolve (RFC 6761)."""
    if isinstance(case.body, dict) and isinstance(case.body.get("url"), str):
        case.body["url"] = HOST.sub(r"\1fuzz.invalid", case.body["url"])


def vary_idempotency_key(case):
    """Vary the key: Schemathesis repeats a few keys, so most valid requests would get a 422 and reach no handler."""
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r"[ -~]{1,200}", key) and random.random() < 0.75:
        case.headers["Idempotency-Key"] = f"{key.strip()}{random.getrandbits(64):x}"


@schemathesis.hook
def filter_failure(ctx, failure, case, response):
    return reason_to_accept(failure, case, response) is None
