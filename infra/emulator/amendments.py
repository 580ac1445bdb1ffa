"""The longer parts of `gaps.py`, which the changed modules of the emulator import."""

import json
import os
import re
from urllib.parse import parse_qs


def tumbling_window(mapping):
    """The members of a `TimeWindowEvent`. The emulator has one shard, and this service keeps no state."""
    return {
        "shardId": "shardId-00000000000000000000-00000000",
        "state": {},
        "isFinalInvokeForWindow": False,
        "isWindowTerminatedEarly": False,
        "eventSourceARN": mapping["EventSourceArn"],
    }


def call_universal_target(target):
    """Calls the action of a universal target as the role of the schedule."""
    import botocore.session
    from ministack.core import lambda_runtime
    from ministack.core.responses import get_account_id, get_region

    service, action = target["Arn"].rsplit(":", 2)[1:]
    function = f"arn:aws:lambda:{get_region()}:{get_account_id()}:function:scheduler"
    role = lambda_runtime.execution_credentials({"FunctionArn": function, "Role": target["RoleArn"], "FunctionName": "scheduler"})
    client = botocore.session.get_session().create_client(
        service,
        region_name=get_region(),
        endpoint_url=f"http://127.0.0.1:{os.environ.get('GATEWAY_PORT', '4566')}",
        aws_access_key_id=role["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=role["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=role["AWS_SESSION_TOKEN"] or None,
    )
    getattr(client, re.sub(r"(?=[A-Z])", "_", action).lower())(**json.loads(target["Input"]))


def with_group(arn, body):
    """The ARN of a schedule in the group of its request."""
    group = json.loads(body or b"{}").get("GroupName", "default")
    return arn.replace(":schedule/default/", f":schedule/{group}/")


def report_bounces(addresses, configuration_set, params):
    """Publishes the bounces of a simulator address with the tags of the email, as the configuration set of this service does."""
    from ministack.services import eventbridge

    tags = {"ses:configuration-set": [configuration_set]}
    for name, values in params.items():
        if re.fullmatch(r"Tags\.member\.\d+\.Name", name):
            value = params[name.replace(".Name", ".Value")]
            tags[_first(values)] = [_first(value)]
    for address in addresses:
        if not re.fullmatch(r"bounce(\+.*)?@simulator\.amazonses\.com", address):
            continue
        detail = {
            "eventType": "Bounce",
            "mail": {"tags": tags},
            "bounce": {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": address}]},
        }
        entry = {"Source": "aws.ses", "DetailType": "Email Bounced", "Detail": json.dumps(detail)}
        eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)


def missing_conditions(service, body):
    """The condition keys of a request that the emulator does not know."""
    if service == "ses":
        source = parse_qs((body or b"").decode()).get("Source")
        return {"ses:FromAddress": re.sub(r".*<(.*)>", r"\1", source[0])} if source else {}
    keys = leading_keys(json.loads(body or b"{}"))
    return {"dynamodb:LeadingKeys": keys} if keys else {}


def leading_keys(request):
    """The partition keys of a request, which AWS takes from keys, items and key conditions."""
    found = [_text(item["pk"]) for item in (request.get("Key"), request.get("Item")) if item and "pk" in item]
    for member in request.get("TransactItems", []):
        for detail in member.values():
            found += leading_keys(detail)
    for batch in request.get("RequestItems", {}).values():
        found += [_text(key["pk"]) for key in batch.get("Keys", [])] if isinstance(batch, dict) else []
    condition = request.get("KeyConditionExpression")
    if condition and not request.get("IndexName"):
        names = request.get("ExpressionAttributeNames", {})
        for name, value in re.findall(r"([#\w]+) = (:\w+)", condition):
            if names.get(name, name) == "pk":
                found.append(_text(request["ExpressionAttributeValues"][value]))
    return found


def _first(value):
    return value[0] if isinstance(value, list) else value


def _text(value):
    return value["S"]
