import http from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';

/** A response of the gateway to its client. */
export interface GatewayResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The type of the gateway response, if it is one. */
  type?: string;
}

/** Headers of a function that the gateway renames (API Gateway Developer Guide, "Amazon API Gateway important notes"). */
const REMAPPED = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-md5',
  'date',
  'expect',
  'host',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'www-authenticate',
]);
const remapped = (name: string): string => (REMAPPED.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name);

/**
 * Converts the result of a function into a response. Returns `null` if it is invalid, which API Gateway reports as an integration
 * error (API Gateway Developer Guide, "Output format of a Lambda function for proxy integration").
 */
export function readProxyResult(result: unknown): GatewayResponse | null {
  const { statusCode, headers, body, isBase64Encoded } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) return null;
  if (body !== undefined && body !== null && typeof body !== 'string') return null;
  try {
    const sent = Object.entries(headers ?? {}).map(([name, value]) => [remapped(name), String(value)] as const);
    for (const [name, value] of sent) {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    }
    return {
      statusCode: Number(statusCode),
      headers: Object.fromEntries(sent),
      body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
    };
  } catch {
    return null;
  }
}
