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
