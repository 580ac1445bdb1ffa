import { requireFunction } from '../arguments.ts';
import { createEngine, type Engine, type EngineOptions, type Grant } from '../engine/engine.ts';
import { safely } from '../engine/log.ts';
import { isLost, patiently } from './clients.ts';
import { documentLog, snapshotOf } from './published.ts';

export interface DocumentSyncOptions extends EngineOptions {
  /** Returns the fields of a document, in place of its own ones. */
  fields?(document: Record<string, unknown>): object;
  /** Returns the address of a client, for keys with an allowlist. The default is that of the socket. */
  address?(request: Request): string | undefined;
}

/** The parts of `ws`, `automerge-repo` and its network adapter that the adapter uses. */
interface Request {
  url?: string | undefined;
  socket: { remoteAddress?: string | undefined };
}
interface Socket {
  readyState: number;
  terminate(): void;
  on(event: 'close', listener: (code: number) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}
interface Sockets {
  on(event: 'connection', listener: (socket: never, request: never) => void): unknown;
}
interface Network {
  sockets: Record<string, unknown>;
}
interface Repo {
  find(documentId: never): Promise<{ doc(): unknown }>;
  on(event: 'doc-metrics', listener: (metrics: { type: string; documentId?: never }) => void): unknown;
  on(event: 'delete-document', listener: (payload: { documentId: never }) => void): unknown;
}

const OPEN = 1;
/** The events of a repository after which the content of a document is in its storage. */
const STORED = ['doc-saved', 'doc-compacted', 'doc-loaded'];

/** The key of a document in tokens, webhooks and events. */
const keyOf = (documentId: string): string => `automerge:${documentId}`;
const tokenIn = ({ url = '' }: Request): string => new URLSearchParams(url.split('?')[1]).get('token') ?? '';

/**
 * Lets a WebSocket server of automerge-repo 2 verify scoped tokens, keeps its connections, and publishes stored changes. Clients connect
 * with `?token=`. Automerge has no clients that can only read, so a client needs both permissions for a document.
 */
export function documentSync(options: DocumentSyncOptions) {
  const { fields = (document) => document, address = ({ socket }) => socket.remoteAddress, ...engineOptions } = options;
  const log = safely(engineOptions.log ?? console.warn);
  requireFunction('fields', options.fields);
  requireFunction('address', options.address);
  const starting = createEngine({ nodeId: 'automerge', ...engineOptions });
  starting.catch(() => {}); // `ready` and each connection report it
  const publish = documentLog(starting, log);
  /** What is known of a socket: its request, and the documents that it can access as long as it is open. */
  const clients = new Map<object, { request: Request; documents: Set<string> }>();
  let network: Network = { sockets: {} };

  const authenticate = async (request: Request, documentId?: string): Promise<Grant | null> => {
    const key = documentId === undefined ? undefined : keyOf(documentId);
    return (await starting).authenticate(tokenIn(request), key, address(request));
  };

  /** Whether a peer can read and write a document. Automerge asks once, so this waits for the service as long as the peer is connected. */
  async function access(peerId: string, documentId?: string): Promise<boolean> {
    const socket = network.sockets[peerId] as Socket | undefined;
    const client = socket && clients.get(socket);
    if (!client || documentId === undefined) return false;
    if (client.documents.has(documentId)) return true;
    const grant = await patiently(
      () => authenticate(client.request, documentId),
      () => socket.readyState === OPEN,
    ).catch(() => null);
    const isAllowed = ['read', 'write'].every((permission) => grant?.permissions.includes(permission as 'read'));
    if (isAllowed) client.documents.add(documentId);
    return isAllowed;
  }

  async function connect(socket: Socket, request: Request): Promise<void> {
    clients.set(socket, { request, documents: new Set() });
    let code: number | undefined;
    let id: string | undefined;
    let engine: Engine | undefined;
    socket.on('error', ({ message }) => log(`A connection failed: ${message}`)); // without a listener, it would end the process
    socket.on('close', (closeCode) => {
      code = closeCode;
      clients.delete(socket);
      if (id !== undefined) engine?.disconnected(id, { lost: isLost(code) });
    });
    engine = await starting;
    const grant = await authenticate(request);
    if (!grant) socket.terminate();
    else if (code === undefined) id = engine.connected({ grant, onEnd: () => socket.terminate() });
  }

  return {
    /** Resolves when the engine can be used. Throws if the directory cannot be used. */
    ready: async (): Promise<void> => void (await starting),
    /** An option of the WebSocket server. */
    verifyClient: ({ req }: { req: Request }, done: (isAllowed: boolean, status?: number) => void): void => {
      authenticate(req).then(
        (grant) => done(grant !== null, 403),
        () => done(false, 503),
      );
    },
    /** An option of the repository. */
    shareConfig: { access, announce: access },
    /** Starts to keep the connections of a WebSocket server and to publish the documents of a repository. */
    start(parts: { repo: Repo; sockets: Sockets; network: Network }): void {
      network = parts.network;
      parts.sockets.on('connection', (socket: Socket, request: Request) => {
        connect(socket, request).catch(({ message }) => {
          log(`A connection is closed: ${message}`);
          socket.terminate();
        });
      });
      parts.repo.on('doc-metrics', ({ type, documentId }) => {
        if (!documentId || !STORED.includes(type)) return;
        parts.repo.find(documentId).then(
          (handle) =>
            publish(
              keyOf(documentId),
              snapshotOf(() => fields(handle.doc() as Record<string, unknown>)),
            ),
          ({ message }) => log(`${documentId} cannot be read, so its changes are not published: ${message}`),
        );
      });
      parts.repo.on('delete-document', ({ documentId }) => {
        starting
          .then((engine) => engine.saved(keyOf(documentId), null))
          .catch(({ message }) => log(`The deletion of ${documentId} is not published: ${message}`));
      });
    },
    /** Publishes what is left and closes all connections without events. */
    close: async (): Promise<void> => (await starting).close(),
  };
}
