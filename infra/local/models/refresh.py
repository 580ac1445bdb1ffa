"""Extracts the members in use of the AWS operations in use from the service models that botocore ships.

    python3 -m venv /tmp/botocore && /tmp/botocore/bin/pip install botocore
    /tmp/botocore/bin/python infra/local/models/refresh.py && npx biome check --write infra/local/models
"""

import json
from pathlib import Path

import botocore
from botocore.loaders import Loader

OPERATIONS = {
    "dynamodb": [
        "BatchGetItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactWriteItems",
        "UpdateItem",
    ],
    "scheduler": ["CreateSchedule"],
    "ses": ["SendEmail"],
    "sqs": ["SendMessageBatch"],
}
# The members of these operations that no function sends.
UNUSED = {
    "AttributesToGet",
    "AttributeUpdates",
    "BccAddresses",
    "CcAddresses",
    "ConditionalOperator",
    "Description",
    "EcsParameters",
    "EndDate",
    "EventBridgeParameters",
    "EventBridgePutEventsV2Parameters",
    "EventBridgePutRawEventsParameters",
    "Expected",
    "KeyConditions",
    "KinesisParameters",
    "KmsKeyArn",
    "MaximumWindowInMinutes",
    "MessageAttributes",
    "MessageDeduplicationId",
    "MessageSystemAttributes",
    "QueryFilter",
    "ReplyToAddresses",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "ReturnPath",
    "ReturnPathArn",
    "SageMakerPipelineParameters",
    "ScanFilter",
    "ScheduleExpressionTimezone",
    "Segment",
    "SourceArn",
    "SqsParameters",
    "StartDate",
    "State",
    "TotalSegments",
}
# The rest of a shape is documentation, and settings of the SDKs.
KEPT = ("type", "required", "enum", "min", "max", "pattern")


def extract(service, names):
    model = Loader().load_service_model(service, "service-2")
    shapes = {}

    def add(name):
        if name in shapes:
            return name
        if name == "AttributeValue":  # memory/values.ts checks it
            shapes[name] = {"type": name}
            return name
        shape = model["shapes"][name]
        kept = shapes[name] = {key: shape[key] for key in KEPT if key in shape}
        if "(?i)" in kept.get("pattern", ""):  # JavaScript has no such flag
            del kept["pattern"]
        if "members" in shape:
            members = shape["members"].items()
            kept["members"] = {key: add(member["shape"]) for key, member in members if key not in UNUSED}
        for part in ("member", "key", "value"):
            if part in shape:
                kept[part] = add(shape[part]["shape"])
        return name

    return {
        "operations": {name: add(model["operations"][name]["input"]["shape"]) for name in names},
        "shapes": shapes,
    }


def write(name, operations):
    extracted = {
        "source": f"botocore {botocore.__version__}",
        "services": {service: extract(service, names) for service, names in operations.items()},
    }
    Path(__file__).with_name(name).write_text(json.dumps(extracted, separators=(",", ":")) + "\n")


write("service-models.json", OPERATIONS)
