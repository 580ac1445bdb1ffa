/** The item of the session storage with the key of a tab, or the session of a link. The sign-in link of a local stack sets it too. */
export const KEY_ITEM = 'admin-key';
