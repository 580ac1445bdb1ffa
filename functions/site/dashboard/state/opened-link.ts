import { sessionIn } from '../../../../lib/keys/link-fragment.ts';
import { identityOf, linkContentOf } from './identity.ts';
import { rememberedKey, rememberKey } from './remembered-key.ts';
import { linkTo } from './router.ts';

/** A dashboard link that opened this page. */
export interface OpenedLink {
  /** Whether a part of its session is missing. */
  isIncomplete: boolean;
  /** The displayable part of the credential that it replaced in this tab. */
  replaced?: string;
}

/**
 * Signs in with the session in the address, and removes it from the address bar and the history. Called before anything else reads
 * the address. The session replaces the credential of this tab.
 */
export function takeLink(): OpenedLink | undefined {
  const session = sessionIn(location.hash);
  if (session === null) return undefined;
  const content = linkContentOf(session);
  history.replaceState(null, '', linkTo(content?.environment ?? 'live'));
  if (!content) return { isIncomplete: true };
  const before = rememberedKey();
  rememberKey(session);
  const isOther = before !== null && before !== session;
  return { isIncomplete: false, ...(isOther && { replaced: identityOf(before).shown }) };
}

/** Loads the page again for a link that the user pastes into the address bar, so that nothing of the last sign-in stays. */
export function watchLinks(): void {
  addEventListener('hashchange', (event) => {
    if (sessionIn(location.hash) === null) return;
    event.stopImmediatePropagation(); // the pages must not see the session
    location.reload();
  });
}
