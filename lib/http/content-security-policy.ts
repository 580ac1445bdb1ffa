// Allows only files of this origin, and no inline code (CSP Level 3). With Trusted Types, no text in a payload can become markup.
const DIRECTIVES = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

/** The `Content-Security-Policy` of every page of the dashboard and the documentation. */
export const CONTENT_SECURITY_POLICY = Object.entries(DIRECTIVES)
  .map((directive) => directive.join(' '))
  .join('; ');
