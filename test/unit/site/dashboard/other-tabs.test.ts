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
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('location', { pathname: '/dashboard' });
  const onKey = vi.fn();
  await new Promise<void>((onSignOut) => {
    onTestFinished(joinTabs({ asksForKey: true, onKey, onSignOut }));
    const other = new BroadcastChannel('dashboard /dashboard');
    for (const message of [{ type: 'answer', key: 'svc_admin_1', usedAt: 1 }, { type: 'sign-out' }])
      other.postMessage(message);
    other.close();
  });
  expect(vi.getTimerCount()).toBe(1);
  vi.runAllTimers();
  expect(onKey).not.toHaveBeenCalled();
});
