import type { IncomingMessage } from 'node:http';

/** Reads the body of a message. Returns `null` if it is too large. Rejects if the connection ends early. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : null;
}
