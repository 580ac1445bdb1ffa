// The browser imports this file too, so it must stay small.

/** The release of the service. `package.json` has the same, and functions do not read it, because their bundles would contain it. */
export const VERSION = '0.1.0';
