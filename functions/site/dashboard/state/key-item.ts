/** The item of the session storage with the admin key of a tab. The sign-in link of a local stack sets it too. */
export const KEY_ITEM = 'admin-key';
