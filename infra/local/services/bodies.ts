import type { IncomingMessage } from 'node:http';

/** The whole body of a message, or `null` if it has more bytes. Rejects if the other side breaks it off. */
export async function readBody(message: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : null;
}

/** The whole body of a message as text. Rejects if the other side breaks it off. */
export async function readText(message: IncomingMessage): Promise<string> {
  return String(await readBody(message));
}
