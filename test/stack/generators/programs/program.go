package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	api "github.com/document-sync/client"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	configuration := api.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	client := api.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), api.ContextAccessToken, os.Getenv("KEY"))

	deleted := api.NewPublishDocumentDeleted("document.deleted", *api.NewDocumentDeletedData("org:acme:old", 2, "generated-client"))
	event := api.PublishDocumentDeletedAsPublishEvent(deleted)
	published := must(client.EventsAPI.PublishEvent(ctx).PublishEvent(event).Execute())
	write := api.NewPushWrite("put", "org:acme:new", 0, map[string]any{"title": "New"})
	push := []api.SyncCyclePushInner{api.PushWriteAsSyncCyclePushInner(write)}
	request := api.NewSyncCycle("generated-client", push)
	request.SetPattern("org:acme:*")
	synced := must(client.DocumentsAndSyncAPI.Sync(ctx).SyncCycle(*request).Execute())
	page := must(client.EventsAPI.ListEvents(ctx).Execute())

	listed, types, fields := []string{}, []string{}, []string{}
	for _, event := range page.Data {
		found := event.GetActualInstance().(interface {
			GetId() string
			GetType() string
		})
		listed = append(listed, found.GetId())
		types = append(types, found.GetType())
		if event.DocumentChanged != nil {
			for _, change := range event.DocumentChanged.Data.Changes {
				fields = append(fields, change.Field)
			}
		}
	}
	slices.Sort(types)
	pushed := []*int32{}
	for _, result := range synced.Results {
		pushed = append(pushed, result.Revision.Get())
	}
	active := []bool{}
	for _, token := range []string{os.Getenv("TOKEN"), "no token"} {
		check := must(client.ScopedTokensAPI.VerifyToken(ctx).VerifyToken(*api.NewVerifyToken(token)).Execute())
		active = append(active, check.Active)
	}
	printed, _ := json.Marshal(map[string]any{
		"published": published.DocumentDeleted.Id,
		"pushed":    pushed,
		"listed":    listed,
		"types":     slices.Compact(types),
		"fields":    fields,
		"active":    active,
	})
	fmt.Println(string(printed))
}
