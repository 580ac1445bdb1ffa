import { VERSION } from '../version.ts';

/**
 * Headers of every response. The HSTS policy omits `includeSubDomains`, because the API does not own the subdomains of the
 * operator's domain and sets no cookies that they could overwrite.
 */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Service-Version': VERSION,
} as const;

/** Headers of every response that is not a page (OWASP REST Security Cheat Sheet, "Security Headers"). */
export const API_HEADERS = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
