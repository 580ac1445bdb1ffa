import { outboxIn } from '../outbox.ts';
import { publisher as publisherOf } from '../publisher.ts';
import { MissingSqliteError, openDatabase } from '../sqlite.ts';
import { tokenProofs } from '../token-verifier.ts';
import { openConnections } from './connections.ts';
import { documentPublisher, documentStore } from './documents.ts';
import { requireEngineOptions } from './engine-arguments.ts';
import { type Engine, type EngineOptions, LEASE_SECONDS } from './engine-types.ts';
import { fieldsOf } from './json-values.ts';
import { engineLease } from './lease.ts';
import { safely } from './log.ts';

export { keyOf } from './document-names.ts';
export type { Engine, EngineOptions } from './engine-types.ts';
export type { ConnectionOptions, Grant } from './grant.ts';
export { exactNumbers } from './json-values.ts';

/** Connects a sync engine to the service: it verifies tokens, keeps connections and publishes changes. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  requireEngineOptions(options);
  const {
    directory,
    nodeId = 'engine',
    leaseSeconds = LEASE_SECONDS,
    log: givenLog = console.warn,
    ...access
  } = options;
  const log = safely(givenLog);
  const database = open(directory);
  const publisher = await publisherOf({
    ...access,
    outbox: outboxIn(database),
    onRejected({ type, data }, { detail, errors = [] }) {
      const violations = errors.map(({ field, detail }) => ` ${field}: ${detail}.`).join('');
      log(`The service rejects ${type} of ${(data as { document_key: string }).document_key}: ${detail}${violations}`);
    },
    onRetry: (reason, waitSeconds) =>
      log(`Events are not published: ${reason}. It is repeated in ${Math.ceil(waitSeconds)} s.`),
  });
  const documents = documentPublisher({ store: documentStore(database), publisher, origin: nodeId, log });
  const { prove, refresh } = tokenProofs(access);
  const lease = engineLease({ ...access, leaseSeconds, log, engineId: crypto.randomUUID() });
  const { end, ...connections } = openConnections({ lease, nodeId, refresh, log });
  let closing: Promise<void> | undefined;

  return {
    async authenticate(token, documentKey, address) {
      const proof = await prove(token ?? '');
      const check = {
        ...(documentKey !== undefined && { document_key: documentKey }),
        ...(address !== undefined && { address }),
      };
      const result = await proof?.(check);
      if (!proof || !result?.active || !result.allowed) return null;
      const { permissions = [], documents = [], user = null, token_id = '', expires_at = '' } = result;
      return { permissions, documents, user, token_id, expires_at, verifyAgain: () => proof(check) };
    },
    ...connections,
    async saved(documentKey, fields) {
      const onLoss = (reason: string) => log(`A value of ${documentKey} is not published as it is: ${reason}.`);
      return documents.saved(documentKey, fields && fieldsOf(fields, { onLoss }));
    },
    close() {
      closing ??= (async () => {
        end();
        await lease.end();
        await publisher.close();
        documents.end();
      })();
      return closing;
    },
  };
}

/** Opens the database of an engine. Its errors are one sentence each, because they tell the operator what to do. */
function open(directory: string) {
  try {
    return openDatabase(`${directory}/engine.sqlite`, directory);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof MissingSqliteError) throw new Error(`createEngine requires ${message}.`);
    throw new Error(
      `The directory ${directory} cannot be used: ${message}. Each process of an engine needs its own directory and its own documents.`,
    );
  }
}
