import type { VerifiedToken } from '../verified-token.ts';

/** What a token allows for a document. */
export interface Grant {
  permissions: ('read' | 'write')[];
  /** The patterns of documents. */
  documents: string[];
  /** The user that the token was created for, or `null`. */
  user: string | null;
  token_id: string;
  expires_at: string;
  /** Checks the same token again, for example because it can be revoked. */
  verifyAgain(): Promise<VerifiedToken>;
}

export interface ConnectionOptions {
  grant: Grant;
  document_key?: string;
  /** The default is the name of the engine. It proves nothing. */
  node_id?: string;
  /** Called when the token of the connection has expired or was revoked. The connection is already closed at the service. */
  onEnd(reason: string): void;
}
