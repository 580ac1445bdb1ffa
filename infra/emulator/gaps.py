"""Where ministack differs from AWS, and the change that closes each gap.

A gap whose text the emulator no longer contains stops the start, so a new version cannot keep a gap that it closed.
"""

from gap import Gap
from iam_gaps import IAM_GAPS

GATEWAY = "ministack.services.apigateway_v1"
TEMPLATES = "ministack.services.cloudformation.provisioners"
LAMBDA = "ministack.services.lambda_svc"

GAPS = [
    *IAM_GAPS,
    Gap(
        TEMPLATES,
        "It rejects alarms on metric math. These alarms exist, and their state never changes.",
        """        raise ValueError(
            "AWS::CloudWatch::Alarm Properties.Metrics (metric math) is not supported; "
            "use MetricName and Namespace."
        )
""",
        """        props = {**props, "Namespace": "metric math", "MetricName": name}
""",
    ),
    Gap(
        "ministack.core.lambda_runtime",
        "It loads no handler from index.cjs (module-loader.ts of aws/aws-lambda-nodejs-runtime-interface-client).",
        """            const mjsPath = fullPath + ".mjs";
            if (fs.existsSync(mjsPath)) {
              resolvedPath = mjsPath;
""",
        """            const found = [".mjs", ".cjs"].map((end) => fullPath + end).find((each) => fs.existsSync(each));
            if (found) {
              resolvedPath = found;
""",
    ),
    Gap(
        TEMPLATES,
        "It ignores ApiKeySourceType (API Gateway Developer Guide, \"Choose an API key source\").",
        """        "minimumCompressionSize": props.get("MinimumCompressionSize"),
        "policy": props.get("Policy"),
""",
        """        "minimumCompressionSize": props.get("MinimumCompressionSize"),
        "apiKeySource": props.get("ApiKeySourceType", "HEADER"),
        "policy": props.get("Policy"),
""",
    ),
    Gap(
        GATEWAY,
        "It ignores usageIdentifierKey of an authorizer (the same page).",
        """            auth_ctx["principalId"] = str(principal_id)
        # Only a well-formed""",
        """            auth_ctx["principalId"] = str(principal_id)
        if policy.get("usageIdentifierKey"):
            auth_ctx["usageIdentifierKey"] = policy["usageIdentifierKey"]
        # Only a well-formed""",
    ),
    Gap(
        GATEWAY,
        "It reads the API key only from a header (the same page).",
        """    # API Gateway's own checks, in the order it runs them.
""",
        """    usage_key = (authorizer_context or {}).pop("usageIdentifierKey", None)
    if usage_key and api.get("apiKeySource") == "AUTHORIZER":
        headers = {**headers, "x-api-key": usage_key}
    # API Gateway's own checks, in the order it runs them.
""",
    ),
    Gap(
        GATEWAY,
        "A gateway response for ACCESS_DENIED has no $context.authorizer (users on re:Post describe that it has).",
        """        return _deny_error(decision == "Deny"), None
    return None, auth_ctx
""",
        """        error = _deny_error(decision == "Deny")
        error.authorizer = auth_ctx
        return error, None
    return None, dict(auth_ctx)
""",
    ),
    Gap(
        GATEWAY,
        "The same, in the template of the response.",
        """        "context.requestId": request["request_id"],
        "context.resourcePath":""",
        """        **{f"context.authorizer.{name}": value for name, value in getattr(error, "authorizer", {}).items()},
        "context.requestId": request["request_id"],
        "context.resourcePath":""",
    ),
    Gap(
        TEMPLATES,
        "It ignores the tumbling window of an event source (AWS::Lambda::EventSourceMapping).",
        """        "ScalingConfig",
    ):
        if props.get(_opt) is not None:
""",
        """        "ScalingConfig",
        "TumblingWindowInSeconds",
    ):
        if props.get(_opt) is not None:
""",
    ),
    Gap(
        LAMBDA,
        "Batches of a tumbling window have no shardId, window and state (Lambda Developer Guide, `TimeWindowEvent`).",
        """            event = {"Records": batch}
""",
        """            event = {"Records": batch}
            if esm.get("TumblingWindowInSeconds"):
                from amendments import tumbling_window
                event.update(tumbling_window(esm))
""",
    ),
    Gap(
        "ministack.services.eventbridge",
        "Schedules know no universal targets (EventBridge Scheduler User Guide, \"Using universal targets\").",
        """        if spec.service == "events" and spec.resource.startswith("api-destination/"):
""",
        """        if spec.service == "scheduler" and spec.resource.startswith("aws-sdk:"):
            from amendments import call_universal_target
            call_universal_target(target)
        elif spec.service == "events" and spec.resource.startswith("api-destination/"):
""",
    ),
    Gap(
        "ministack.services.ses",
        "The simulator reports no bounces to EventBridge (SES Developer Guide, \"Using the Amazon SES mailbox simulator\").",
        """        type_name="SendEmail",
        config_set=config_set,
    )
""",
        """        type_name="SendEmail",
        config_set=config_set,
    )
    if config_set:
        from amendments import report_bounces
        report_bounces(recipients, config_set, params)
""",
    ),
]
