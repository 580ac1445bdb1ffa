// The browser imports this file too, so it must stay small.

/**
 * The release of the service. On `main`, it is the next one with `-dev`. `package.json` has the same, and functions do not
 * read it, because their bundles would contain it.
 */
export const VERSION = '0.2.0-dev';
