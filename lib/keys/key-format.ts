// The browser imports this file too, so it must stay small.

/** `svc_<type>_` + 12 (id) + 32 (secret) + 6 (checksum) base62 characters. Captures the type and the id. */
export const KEY_FORMAT = /^svc_(live|test|read|admin)_([0-9A-Za-z]{12})[0-9A-Za-z]{38}$/;
