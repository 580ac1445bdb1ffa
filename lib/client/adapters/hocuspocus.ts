import { createEngine, type Engine, type EngineOptions, type Grant, keyOf } from '../engine/engine.ts';
import { isClean, patiently } from './patience.ts';
import { documentLog, type Snapshot, snapshotOf } from './published.ts';
import { fieldsOfDocument, isEmpty, plainValue, type SharedDocument } from './yjs-fields.ts';

export interface DocumentSyncOptions<Document extends SharedDocument = SharedDocument> extends EngineOptions {
  /** Returns the fields of a document, in place of its default representation. */
  fields?(document: Document): object;
  /** Returns the address of a client, for keys with an allowlist. `requestHeaders` can contain that of a proxy. */
  address?(request: { requestHeaders: Headers }): string | undefined;
}

/** The part of a connection of Hocuspocus 4 that the extension uses. */
interface Connection {
  document: { hasConnection(connection: never): boolean };
  webSocket: {
    readyState: number;
    close(code?: number, reason?: string): void;
    addEventListener?(type: 'close', listener: (event: { code: number }) => void): void;
  };
  close(event?: { code: number; reason: string }): void;
  onClose(callback: (document: unknown, event?: { code: number }) => void): unknown;
  readOnly: boolean;
}
interface Authentication {
  token: string;
  documentName: string;
  requestHeaders: Headers;
}

const MAX_WAIT_MS = 20_000;
/** Lets the client connect again with its current token. */
const RESET = { code: 4205, reason: 'Reset Connection' };
const OPEN = 1;

/**
 * An extension of Hocuspocus 4 that verifies scoped tokens, keeps connections and publishes stored changes. The persistence of the server
 * stays as it is: no failure of the extension reaches it. `listen` fails if the directory cannot be used.
 */
export function documentSync<Document extends SharedDocument = SharedDocument>(options: DocumentSyncOptions<Document>) {
  const { fields = fieldsOfDocument, address, ...engineOptions } = options;
  const starting = createEngine({ nodeId: 'hocuspocus', ...engineOptions });
  starting.catch(() => {}); // `onListen` and each authentication report it
  const publish = documentLog(starting, engineOptions.log);
  /** The content of each document when it was stored, which can be older than its current content. */
  const stored = new WeakMap<object, Snapshot>();
  /** The connections by the objects of Hocuspocus, and the grants until there is one. */
  const ids = new WeakMap<object, string>();
  const grants = new WeakMap<object, Grant>();

  async function authenticate({ token, documentName, requestHeaders }: Authentication): Promise<Grant> {
    const engine = await starting;
    const deadline = Date.now() + MAX_WAIT_MS;
    const check = () => engine.authenticate(token, keyOf(documentName), address?.({ requestHeaders }));
    const grant = await patiently(check, () => Date.now() < deadline);
    if (!grant?.permissions.includes('read')) throw new Error(`The token does not allow ${documentName}.`);
    return grant;
  }
  const read = (document: object) => snapshotOf(() => fields(document as Document), plainValue);

  return {
    extensionName: 'document-sync',
    /** It authenticates and reads before the other extensions. */
    priority: 1000,
    async onListen(): Promise<void> {
      await starting;
    },
    async onAuthenticate(request: Authentication & { connectionConfig: { readOnly: boolean } }): Promise<void> {
      const grant = await authenticate(request);
      request.connectionConfig.readOnly = !grant.permissions.includes('write');
      grants.set(request.connectionConfig, grant);
    },
    async onTokenSync({
      connection,
      connectionConfig,
      ...request
    }: Authentication & { connection: Connection; connectionConfig: { readOnly: boolean } }): Promise<void> {
      const grant = await authenticate(request);
      connection.readOnly = !grant.permissions.includes('write');
      connectionConfig.readOnly = connection.readOnly;
      const id = ids.get(connection);
      if (id !== undefined) (await starting).renewed(id, grant);
    },
    async connected({
      connection,
      connectionConfig,
      documentName,
    }: {
      connection: Connection;
      connectionConfig: object;
      documentName: string;
    }): Promise<void> {
      const engine = await starting;
      const grant = grants.get(connectionConfig);
      if (!grant || !connection.document.hasConnection(connection as never)) return;
      ids.set(connection, keep(engine, connection, grant, keyOf(documentName)));
    },
    async afterLoadDocument({
      document,
      documentName,
    }: {
      document: SharedDocument;
      documentName: string;
    }): Promise<void> {
      // A document that does not exist is empty. Without a storage, each one is, until a client sends its content.
      if (!isEmpty(document)) void publish(keyOf(documentName), read(document));
    },
    async onStoreDocument({ document }: { document: object }): Promise<void> {
      stored.set(document, read(document));
    },
    async afterStoreDocument({ document, documentName }: { document: object; documentName: string }): Promise<void> {
      void publish(keyOf(documentName), stored.get(document) ?? read(document));
    },
    async onDestroy(): Promise<void> {
      await starting.then(
        (engine) => engine.close(),
        () => {},
      );
    },
  };
}

/** Keeps a connection until it is closed. A client that detaches from a document keeps its socket. */
function keep(engine: Engine, connection: Connection, grant: Grant, document_key: string): string {
  const { webSocket } = connection;
  const onEnd = () => {
    connection.close(RESET); // accepts no more edits
    webSocket.close(RESET.code, RESET.reason);
  };
  const id = engine.connected({ grant, document_key, onEnd });
  webSocket.addEventListener?.('close', ({ code }) => engine.disconnected(id, { lost: !isClean(code) }));
  connection.onClose((_document, event) => {
    const isBroken = event === undefined && webSocket.readyState !== OPEN; // the event of the socket has the code
    if (!isBroken)
      engine.disconnected(id, { lost: event !== undefined && (event.code === 1006 || event.code === 4408) });
  });
  return id;
}
