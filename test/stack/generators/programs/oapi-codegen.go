package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		return nil
	}
	client := must(NewClientWithResponses(os.Getenv("BASE_URL"), WithRequestEditorFn(authorize)))
	ctx := context.Background()

	var event PublishEvent
	data := DocumentDeletedData{DocumentKey: "org:acme:old", Revision: 2, Origin: "generated-client"}
	if err := event.FromPublishDocumentDeleted(PublishDocumentDeleted{Data: data}); err != nil {
		panic(err)
	}
	published := must(must(client.PublishEventWithResponse(ctx, nil, event)).JSON202.AsDocumentDeleted())
	var push SyncCycle_Push_Item
	write := PushWrite{Op: "put", DocumentKey: "org:acme:new", Fields: map[string]any{"title": "New"}}
	if err := push.FromPushWrite(write); err != nil {
		panic(err)
	}
	pattern := "org:acme:*"
	cycle := SyncCycle{NodeId: "generated-client", Pattern: &pattern, Push: []SyncCycle_Push_Item{push}}
	synced := must(client.SyncWithResponse(ctx, nil, cycle)).JSON200
	page := must(client.ListEventsWithResponse(ctx, nil)).JSON200

	listed, types, fields := []string{}, []string{}, []string{}
	for _, event := range page.Data {
		types = append(types, must(event.Discriminator()))
		listed = append(listed, must(event.AsDocumentDeleted()).Id)
		if types[len(types)-1] == "document.changed" {
			for _, change := range must(event.AsDocumentChanged()).Data.Changes {
				fields = append(fields, change.Field)
			}
		}
	}
	slices.Sort(types)
	pushed := []*int{}
	for _, result := range synced.Results {
		pushed = append(pushed, result.Revision)
	}
	active := []bool{}
	for _, token := range []string{os.Getenv("TOKEN"), "no token"} {
		active = append(active, must(client.VerifyTokenWithResponse(ctx, nil, VerifyToken{Token: token})).JSON200.Active)
	}
	fmt.Println(string(must(json.Marshal(map[string]any{
		"published": published.Id,
		"pushed":    pushed,
		"listed":    listed,
		"types":     slices.Compact(types),
		"fields":    fields,
		"active":    active,
	}))))
}
