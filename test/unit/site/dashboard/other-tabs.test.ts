import { expect, it, onTestFinished, vi } from 'vitest';
import { joinTabs, signOutOtherTabs } from '../../../../functions/site/dashboard/state/other-tabs.ts';

it('signs out the tabs of this dashboard, and of no other dashboard on the same domain', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  const signedOut = await new Promise((onSignOut) => {
    for (const pathname of ['/other/dashboard', '/dashboard']) {
      vi.stubGlobal('location', { pathname });
      onTestFinished(joinTabs({ asksForKey: false, onKey() {}, onSignOut: () => onSignOut(pathname) }));
    }
    signOutOtherTabs();
  });
  expect(signedOut).toBe('/dashboard');
});

it('stays signed out when the tab that answered signs out', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  const join = (pathname: string, onKey: () => void, onSignOut = () => {}) => {
    vi.stubGlobal('location', { pathname });
    onTestFinished(joinTabs({ asksForKey: true, onKey, onSignOut }));
  };
  const send = (pathname: string, ...messages: object[]) => {
    const channel = new BroadcastChannel(`keys ${pathname.replace('/dashboard', '')}`);
    for (const message of messages) channel.postMessage(message);
    channel.close();
  };
  const answer = { type: 'answer', key: 'svc_admin_1', usedAt: 1 };
  const onKey = vi.fn();
  await new Promise<void>((onLaterKey) => {
    join('/later', onLaterKey); // waits for answers later than the first tab
    join('/dashboard', onKey, () => send('/later', answer));
    send('/dashboard', answer, { type: 'sign-out' });
  });
  expect(onKey).not.toHaveBeenCalled();
});
