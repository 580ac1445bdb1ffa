import { readFileSync } from 'node:fs';

/** Reads a certificate or the key of the test endpoints. */
export const pem = (name: string): string => readFileSync(new URL(`${name}.pem`, import.meta.url), 'utf8');

/** The certificate of an endpoint with its key. */
export const certificate = (name: string) => ({ key: pem('key'), cert: pem(name) });
