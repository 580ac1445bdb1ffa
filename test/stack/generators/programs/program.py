import json
import os

import document_sync as api

configuration = api.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["KEY"])
with api.ApiClient(configuration) as client:
    events_api = api.EventsApi(client)
    deleted = api.DocumentDeletedData(document_key="org:acme:old", revision=2, origin="generated-client")
    event = api.PublishDocumentDeleted(type="document.deleted", data=deleted)
    published = events_api.publish_event(api.PublishEvent(event)).actual_instance
    push = api.PushWrite(op="put", document_key="org:acme:new", base_revision=0, fields={"title": "New"})
    request = api.SyncCycle(
        node_id="generated-client", pattern="org:acme:*", push=[api.SyncCyclePushInner(push)], known={}
    )
    synced = api.DocumentsAndSyncApi(client).sync(request)
    events = [event.actual_instance for event in events_api.list_events().data]
    tokens = api.ScopedTokensApi(client)
    checks = [tokens.verify_token(api.VerifyToken(token=token)) for token in (os.environ["TOKEN"], "no token")]

print(
    json.dumps(
        {
            "published": published.id,
            "pushed": [result.revision for result in synced.results],
            "listed": [event.id for event in events],
            "types": sorted({event.type for event in events}),
            "fields": [
                change.var_field
                for event in events
                if isinstance(event, api.DocumentChanged)
                for change in event.data.changes
            ],
            "active": [check.active for check in checks],
        }
    )
)
