import type { IncomingMessage } from 'node:http';

/** Reads the body of a message. Returns `null` if it is too large. Rejects if the connection ends early. */
export async function readBody(message: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : null;
}

/** Reads the body of a message of any size. Rejects if the connection ends early. */
export const readBytes = async (message: IncomingMessage): Promise<Buffer> => (await readBody(message)) as Buffer;

/** Reads the body of a message as text. Rejects if the connection ends early. */
export const readText = async (message: IncomingMessage): Promise<string> => String(await readBytes(message));
