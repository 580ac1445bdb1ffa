import com.google.gson.Gson;
import java.util.*;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

class Program {
  public static void main(String[] given) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    client.setBearerToken(System.getenv("KEY"));
    EventsApi eventsApi = new EventsApi(client);

    DocumentDeletedData deleted =
        new DocumentDeletedData().documentKey("org:acme:old").revision(2).origin("generated-client");
    PublishDocumentDeleted event =
        new PublishDocumentDeleted().type(PublishDocumentDeleted.TypeEnum.DOCUMENT_DELETED).data(deleted);
    Event published = eventsApi.publishEvent(new PublishEvent(event), null, null);
    // Gson omits the null of a field that was added.
    PublishDocumentChangedDataChangesInner added =
        new PublishDocumentChangedDataChangesInner().field("title").oldValue(null).newValue("New").origin("generated-client");
    PublishDocumentChangedData data =
        new PublishDocumentChangedData().documentKey("org:acme:added").revision(2).addChangesItem(added);
    PublishDocumentChanged change =
        new PublishDocumentChanged().type(PublishDocumentChanged.TypeEnum.DOCUMENT_CHANGED).data(data);
    eventsApi.publishEvent(new PublishEvent(change), null, null);
    PushWrite write = new PushWrite().op(PushWrite.OpEnum.PUT).documentKey("org:acme:new").baseRevision(0);
    SyncCycle cycle = new SyncCycle().nodeId("generated-client").pattern("org:acme:*");
    cycle.addPushItem(new SyncCyclePushInner(write.fields(Map.of("title", "New"))));
    SyncResult synced = new DocumentsAndSyncApi(client).sync(cycle, null);
    EventPage page = eventsApi.listEvents(null, null, null, null, null, null, null, null, null);

    List<String> listed = new ArrayList<>();
    Set<String> types = new TreeSet<>();
    Set<String> fields = new TreeSet<>();
    for (Event each : page.getData()) {
      Object found = each.getActualInstance();
      listed.add((String) found.getClass().getMethod("getId").invoke(found));
      types.add(found.getClass().getMethod("getType").invoke(found).toString());
      if (found instanceof DocumentChanged)
        for (DocumentChangedDataChangesInner one : ((DocumentChanged) found).getData().getChanges())
          fields.add(one.getField());
    }
    List<Boolean> active = new ArrayList<>();
    for (String token : List.of(System.getenv("TOKEN"), "no token"))
      active.add(new ScopedTokensApi(client).verifyToken(new VerifyToken().token(token), null).getActive());
    Map<String, Object> printed = new LinkedHashMap<>();
    printed.put("published", ((DocumentDeleted) published.getActualInstance()).getId());
    printed.put("pushed", synced.getResults().stream().map(result -> result.getRevision()).toList());
    printed.put("listed", listed);
    printed.put("types", types);
    printed.put("fields", fields);
    printed.put("active", active);
    System.out.println(new Gson().toJson(printed));
    System.exit(0); // the HTTP client keeps threads
  }
}
