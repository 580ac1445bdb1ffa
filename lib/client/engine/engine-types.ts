import type { Access } from '../access.ts';
import type { ConnectionOptions, Grant } from './grant.ts';
import type { Log } from './log.ts';

/** Long enough for several renewals that the service throttles. */
export const LEASE_SECONDS = 60;

export interface EngineOptions extends Access {
  /**
   * A folder for the events that are not published yet, and for what earlier events contain. It must survive restarts, and belongs to one
   * process.
   */
  directory: string;
  /** The name of the engine: the `origin` of its changes and the `node_id` of its connections. The default is `engine`. */
  nodeId?: string;
  /** Seconds without a renewal after which the service reports the connections as lost: 10 to 900, by default 60. */
  leaseSeconds?: number;
  /** Receives one sentence about each problem. The default is `console.warn`. */
  log?: Log;
}

export interface Engine {
  /**
   * Returns what a token allows for a document, or `null` if it allows nothing. `address` is that of the client, for allowlists of keys.
   * Throws if the service has not responded for five minutes.
   */
  authenticate(token: string | null | undefined, documentKey?: string, address?: string): Promise<Grant | null>;
  /** Keeps a connection until `disconnected`, and returns its id. */
  connected(options: ConnectionOptions): string;
  /** Replaces the token of a connection. */
  renewed(id: string, grant: Grant): void;
  /** Ends a connection. With `lost`, the service publishes `connection.lost`. */
  disconnected(id: string, options?: { lost?: boolean }): void;
  /**
   * Publishes how the fields of a stored document differ from its earlier events. Resolves when the event is on disk. `null` means that the
   * document is deleted. Call it after each store, and for each document that your engine loads: without a difference, nothing happens.
   */
  saved(documentKey: string, fields: object | null): Promise<void>;
  /** Publishes for at most 10 seconds, and closes the open connections without events. The rest is published after the next start. */
  close(): Promise<void>;
}
