import { requireDynamoDbRequest } from './dynamodb/request.ts';
import type { TableSchema } from './dynamodb/schema.ts';
import { requireModel } from './models.ts';

interface Args {
  request?: unknown;
}
type Next = (args: Args) => Promise<unknown>;

interface Client {
  middlewareStack: {
    add(
      middleware: (next: Next, context: { commandName?: string }) => Next,
      options: { step: 'build'; name: string },
    ): void;
  };
}

/** Makes a DynamoDB client of the SDK validate every request before it is sent. */
export function validated<Type>(client: Type, schema?: TableSchema): Type {
  (client as unknown as Client).middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const operation = commandName.replace('Command', '');
        const { body } = args.request as { body: string | Uint8Array };
        const input = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
        requireModel('dynamodb', operation, input);
        if (schema) requireDynamoDbRequest(operation, input, schema);
        return next(args);
      },
    { step: 'build', name: 'serviceModels' },
  );
  return client;
}
