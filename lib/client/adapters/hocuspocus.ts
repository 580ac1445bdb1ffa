import { requireFunction } from '../arguments.ts';
import { createEngine, type Engine, type EngineOptions, type Grant, keyOf } from '../engine/engine.ts';
import { isLost, patiently } from './clients.ts';
import { documentLog, type Snapshot, snapshotOf } from './published.ts';
import { fieldsOfDocument, isEmpty, plainValue, type SharedDocument } from './yjs-fields.ts';

export interface DocumentSyncOptions<Document extends SharedDocument = SharedDocument> extends EngineOptions {
  /** Returns the fields of a document, in place of its default representation. */
  fields?(document: Document): object;
  /** Returns the address of a client, for keys with an allowlist. `requestHeaders` can contain that of a proxy. */
  address?(request: { requestHeaders: Headers }): string | undefined;
}

/** The parts of Hocuspocus 4 that the extension uses. */
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
interface Config {
  readOnly: boolean;
}
interface Authentication {
  token: string;
  documentName: string;
  requestHeaders: Headers;
  connectionConfig: Config;
}
interface Connected {
  connection: Connection;
  connectionConfig: Config;
  documentName: string;
}
interface Loaded {
  document: SharedDocument;
  documentName: string;
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
  requireFunction('fields', options.fields);
  requireFunction('address', address);
  const starting = createEngine({ nodeId: 'hocuspocus', ...engineOptions });
  starting.catch(() => {}); // `onListen` and each authentication report it
  const publish = documentLog(starting, engineOptions.log);
  const read = (document: SharedDocument) => snapshotOf(() => fields(document as Document), plainValue);
  /** The content of each document when it was stored, which can be older than its current content. */
  const stored = new WeakMap<SharedDocument, Snapshot>();
  /** The grant of each connection, by an object that exists before it, and its id. */
  const grants = new WeakMap<Config, Grant>();
  const ids = new WeakMap<Connection, string>();
  let isShared = false;

  async function ready(): Promise<Engine> {
    if (isShared)
      throw new Error(
        'documentSync cannot be used with Redis, because one process counts the revisions of a document.',
      );
    return starting;
  }

  async function authenticate({ token, documentName, requestHeaders }: Authentication): Promise<Grant> {
    const engine = await ready();
    const deadline = Date.now() + MAX_WAIT_MS;
    const check = () => engine.authenticate(token, keyOf(documentName), address?.({ requestHeaders }));
    const grant = await patiently(check, () => Date.now() < deadline);
    if (!grant?.permissions.includes('read')) throw new Error(`The token does not allow ${documentName}.`);
    return grant;
  }

  return {
    extensionName: 'document-sync',
    /** It authenticates and reads before the other extensions. */
    priority: 1000,
    async onConfigure({ configuration }: { configuration: { extensions: object[] } }): Promise<void> {
      isShared = configuration.extensions.some((extension) => extension.constructor.name === 'Redis');
    },
    async onListen(): Promise<void> {
      await ready();
    },
    async onAuthenticate(request: Authentication): Promise<void> {
      const grant = await authenticate(request);
      request.connectionConfig.readOnly = !grant.permissions.includes('write');
      grants.set(request.connectionConfig, grant);
    },
    async onTokenSync({ connection, ...request }: Authentication & { connection: Connection }): Promise<void> {
      const grant = await authenticate(request);
      connection.readOnly = !grant.permissions.includes('write');
      request.connectionConfig.readOnly = connection.readOnly;
      const id = ids.get(connection);
      if (id !== undefined) (await starting).renewed(id, grant);
    },
    async connected({ connection, connectionConfig, documentName }: Connected): Promise<void> {
      const engine = await starting;
      const grant = grants.get(connectionConfig);
      if (!grant || !connection.document.hasConnection(connection as never)) return;
      ids.set(connection, keep(engine, connection, grant, keyOf(documentName)));
    },
    async afterLoadDocument({ document, documentName }: Loaded): Promise<void> {
      // A document that does not exist is empty. Without a storage, each one is, until a client sends its content.
      const snapshot = snapshotOf(() => (isEmpty(document) ? null : fields(document as Document)), plainValue);
      publish(keyOf(documentName), snapshot);
    },
    async onStoreDocument({ document }: Loaded): Promise<void> {
      stored.set(document, read(document));
    },
    async afterStoreDocument({ document, documentName }: Loaded): Promise<void> {
      publish(keyOf(documentName), stored.get(document) ?? read(document));
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
  const closed = (code?: number) => engine.disconnected(id, { lost: isLost(code) });
  webSocket.addEventListener?.('close', ({ code }) => closed(code));
  connection.onClose((_document, event) => {
    // Hocuspocus finds a broken socket when it sends. The event of the socket has the code then.
    const isFollowed = event === undefined && webSocket.readyState !== OPEN && webSocket.addEventListener !== undefined;
    if (!isFollowed) closed(event?.code);
  });
  return id;
}
