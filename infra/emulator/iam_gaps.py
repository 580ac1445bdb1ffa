"""Where the IAM of ministack differs from AWS. See `gaps.py`."""

from gap import Gap

APP = "ministack.app"

IAM_GAPS = [
    Gap(
        APP,
        "Requests without TLS are not secure transport. The emulator has no TLS here, and AWS accepts only TLS.",
        """                           headers.get("x-forwarded-proto", "").split(",")[0].strip().lower() == "https")
""",
        """                           True)
""",
    ),
    Gap(
        APP,
        "SendMessageBatch needs its own permission (SQS Developer Guide, \"Amazon SQS batch actions\": that of SendMessage).",
        """        iam_action = extract_iam_action(service, method, path, headers, body, routing_params)
""",
        """        iam_action = extract_iam_action(service, method, path, headers, body, routing_params)
        if service == "sqs" and iam_action:
            iam_action = iam_action.removesuffix("Batch")
""",
    ),
    Gap(
        "ministack.core.iam_evaluator",
        "It logs no denied calls. CloudTrail does.",
        """    result.principal_arn = principal.arn
    return result


# ----""",
        """    result.principal_arn = principal.arn
    logger.warning("denied %s on %s to %s with %s", iam_action, resource_arn, principal.arn, context)
    return result


# ----""",
    ),
    Gap(
        APP,
        "Requests have no dynamodb:LeadingKeys and ses:FromAddress (Service Authorization Reference).",
        """                if service == "s3"
                else None
            )
            if service == "logs":
""",
        """                if service == "s3"
                else None
            )
            if service in ("dynamodb", "ses"):
                from amendments import missing_conditions
                service_context = {**(service_context or {}), **missing_conditions(service, body)}
            if service == "logs":
""",
    ),
    Gap(
        "ministack.core.iam_actions",
        "SES v1 authorizes sending on no identity (Service Authorization Reference, Amazon SES v1, SendEmail).",
        """        identity = _query_param(query_params, "Identity")
        if identity:
""",
        """        identity = _query_param(query_params, "Identity") or _query_param(query_params, "Source")
        if identity:
""",
    ),
    Gap(
        APP,
        "The ARN of a schedule names no group (Service Authorization Reference, Amazon EventBridge Scheduler).",
        """            service_context = (
                dynamodb_service_context(body) if service == "dynamodb"
""",
        """            if service == "scheduler":
                from amendments import with_group
                resource_arn = with_group(resource_arn, body)
            service_context = (
                dynamodb_service_context(body) if service == "dynamodb"
""",
    ),
]
