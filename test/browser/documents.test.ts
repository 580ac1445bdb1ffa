import { describe, expect, it } from 'vitest';
import { get, put } from '../support/documents.ts';
import { useService } from '../support/service.ts';
import { copyShown, fact, hasFocus, heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

describe('the documents', () => {
  it('can be browsed by prefix and viewed', async () => {
    const project = await service.project();
    for (const key of ['org:acme:doc-1', 'org:acme:doc-2', 'org:acmecorp:doc', 'user:1']) {
      await put(project.admin, key, { title: key });
    }
    const page = await dashboard.signIn(project.adminKey, '/live/documents');
    const rows = page.getByRole('table', { name: 'Documents' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByLabel('Prefix', { exact: true }).fill(' org:acme: ');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('link', { name: 'org:acme:doc-1' }).click();
    await heading(page, 'org:acme:doc-1').waitFor();
    await page.getByRole('link', { name: 'org:acme', exact: true }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('navigation', { name: 'Prefix' }).getByRole('link', { name: 'org' }).click();
    await expect.poll(() => rows.count()).toBe(3);
  });

  it('have pages, and report an invalid prefix', async () => {
    const project = await service.project();
    await put(project.admin, 'b:other', {});
    for (let i = 0; i < 26; i++) await put(project.admin, `a:doc-${String(i).padStart(2, '0')}`, { i });
    const page = await dashboard.signIn(project.adminKey, '/live/documents?prefix=a');
    const rows = page.getByRole('table', { name: 'Documents' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await hasFocus(heading(page, 'Documents'))).toBe(true); // the link is gone
    await page.getByRole('link', { name: 'First page' }).click();
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('textbox', { name: 'Prefix' }).fill('no key/');
    await page.keyboard.press('Enter');
    await page.getByText('Prefix must be 1 to 16 segments').waitFor();
    await page.goBack();
    await expect.poll(() => page.getByRole('textbox', { name: 'Prefix' }).inputValue()).toBe('a');
  });

  it('can be created, edited with concurrent changes, and deleted', async () => {
    const { admin, adminKey } = await service.project();
    await put(admin, 'org:acme:doc-1', { title: 'Draft' });
    const page = await dashboard.signIn(adminKey, '/live/documents', { reducedMotion: 'reduce' });
    await page.clock.install();
    const fields = page.getByLabel('Fields', { exact: true });
    await page.getByRole('link', { name: 'Create document' }).click();
    await page.getByLabel('Document key').fill('org:acme:canceled');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Create document' }).click();
    await page.getByLabel('Document key').fill('no key/');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Document key must be 1 to 16 segments of').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.getByLabel('Document key').fill('org:acme:doc-1');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('There is a document with this key.').waitFor();
    await page.getByLabel('Document key').fill(' org:acme:doc-2 ');
    expect(await page.getByText('There is a document with this key.').count()).toBe(0);
    await fields.clear();
    await fields.pressSequentially('["/"]'); // does not open the search
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Fields must be a JSON object').waitFor();
    await fields.fill('{"big": 12345678901234567890}');
    await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox/documents?new=yes`);
    await page.getByText('You are viewing test data').waitFor();
    expect(await page.getByLabel('Document key').inputValue()).toBe('');
    await page.goBack();
    await page.getByText('Your unsaved changes were restored.').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await heading(page, 'org:acme:doc-2').waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Document key').inputValue()).toBe('');
    await page.goForward();
    await heading(page, 'org:acme:doc-2').waitFor();

    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => fields.inputValue()).toBe('{\n  "big": 12345678901234567890\n}');
    expect(await hasFocus(fields)).toBe(true);
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await put(admin, 'org:acme:doc-2', { title: 'Theirs' });
    await fields.fill('{"title": "Mine"}');
    await admin('PUT', '/v1/documents/org:acme:doc-2?environment=sandbox', { body: { fields: {} } });
    await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox/documents/org%3Aacme%3Adoc-2`);
    await page.getByText('You are viewing test data').waitFor(); // the page of the document is gone
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => fields.inputValue()).toBe('{}');
    await page.goBack();
    await page.getByText('You are viewing test data').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Edit revision 1').waitFor(); // a restored text does not overwrite the change
    expect(await fields.inputValue()).toBe('{"title": "Mine"}');
    await fields.press('End');
    await fields.pressSequentially(' '); // nor does more input
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Nothing was saved.').waitFor();
    expect(await hasFocus(page.getByRole('button', { name: 'Save' }))).toBe(true);
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.locator('.callout', { hasText: '"Theirs"' }).waitFor();
    await put(admin, 'org:acme:doc-2', { title: 'Unseen' });
    await page.getByRole('button', { name: 'Keep my text' }).click();
    expect(await hasFocus(fields)).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Show the new version' }).click();
    await page.locator('.callout', { hasText: '"Unseen"' }).waitFor();
    expect((await get(admin, 'org:acme:doc-2')).fields).toEqual({ title: 'Unseen' });
    await page.getByRole('button', { name: 'Keep my text' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as revision 4.').waitFor();
    await expect.poll(() => fact(page, 'Revision').textContent()).toBe('4');
    expect(await hasFocus(heading(page, 'org:acme:doc-2'))).toBe(true);
    expect((await get(admin, 'org:acme:doc-2')).fields).toEqual({ title: 'Mine' });
    await expect.poll(() => page.getByRole('table', { name: 'Events' }).locator('tbody tr').count()).toBe(4);
    await page.getByRole('cell', { name: 'none' }).nth(3).waitFor(); // there is no webhook

    await page.getByRole('button', { name: 'Delete' }).click();
    await put(admin, 'org:acme:doc-2', { title: 'Theirs again' });
    await page.clock.runFor(61_000);
    await page.getByRole('button', { name: 'Delete document' }).click();
    await page.getByText('The document has changed. Close this dialog and open it again.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => fact(page, 'Revision').textContent()).toBe('5');
    for (let i = 0; i < 2; i++) {
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByText('Edit revision 5').waitFor(); // saved and canceled texts are not restored
      expect(await page.getByText('Your unsaved changes were restored.').count()).toBe(0);
      await fields.fill(JSON.stringify({ ...Array(1001).fill('Canceled') }));
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('fields must have at most 1000 members.').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
    }
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete document' }).click();
    await page.getByText('Document deleted.').waitFor();
    const opacityAtTheEnd = await page.locator('.announcement span').evaluate((message) => {
      for (const animation of message.getAnimations()) animation.finish();
      return getComputedStyle(message).opacity;
    });
    expect(opacityAtTheEnd).toBe('0'); // also for users who prefer reduced motion
    await page.getByRole('link', { name: 'org:acme:doc-1' }).waitFor();
    expect((await admin('GET', '/v1/documents/org:acme:doc-2')).status).toBe(404);

    await page.getByRole('link', { name: 'org:acme:doc-1' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await put(admin, 'org:acme:doc-1', { title: 'Theirs' });
    const saveInVain = async () => {
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Show the new version' }).click();
    };
    await saveInVain();
    await page.getByRole('button', { name: 'Edit the new version' }).click();
    await expect.poll(() => fields.inputValue()).toContain('"Theirs"');

    // A restored text that is discarded takes its conflict with it.
    await page.goBack();
    await heading(page, 'Documents').waitFor();
    await page.goForward();
    await page.getByRole('button', { name: 'Edit' }).click();
    await put(admin, 'org:acme:doc-1', { title: 'Latest' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    await page.getByRole('button', { name: 'Discard them' }).click();
    await page.getByText('Nothing was saved.').waitFor({ state: 'detached' });
    expect(await hasFocus(fields)).toBe(true);
    await admin('DELETE', '/v1/documents/org:acme:doc-1');
    await saveInVain();
    await page.locator('.callout').getByRole('alert').nth(1).waitFor();
    await page.reload();
    await page.getByText('It may have been deleted.').waitFor();
    await page.getByRole('link', { name: 'document.deleted' }).waitFor();
  });

  it('keep what is typed during a save, and open no page after the user has left', async () => {
    const { admin, adminKey } = await service.project();
    await put(admin, 'org:acme:doc-1', { title: 'Draft' });
    const page = await dashboard.signIn(adminKey, '/live/documents/org%3Aacme%3Adoc-1');
    const fields = page.getByLabel('Fields', { exact: true });
    const prefix = page.getByRole('textbox', { name: 'Prefix' });
    const hold = async () => {
      const held = Promise.withResolvers<void>();
      await page.route('**/v1/documents/*', (route) => held.promise.then(() => route.continue()), { times: 1 });
      return held;
    };
    await page.getByRole('button', { name: 'Edit' }).click();
    await fields.fill('{"title": "First"}');
    const saving = await hold();
    await page.getByRole('button', { name: 'Save' }).click();
    await fields.fill('{"title": "Later"}');
    saving.resolve();
    await page.getByText('Saved as revision 2.').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await fields.inputValue()).toBe('{"title": "Later"}');

    for (const [button, message] of [
      ['Save', 'Saved as revision 3.'],
      ['Create', 'Document created.'],
    ] as const) {
      if (button === 'Create') {
        await page.getByRole('link', { name: 'Create document' }).click();
        await page.getByLabel('Document key').fill('org:acme:doc-2');
      } else {
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('button', { name: 'Show the new version' }).click();
        await page.getByRole('button', { name: 'Keep my text' }).click();
      }
      const left = await hold();
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Documents' }).click();
      await prefix.focus();
      left.resolve();
      await page.getByText(message).waitFor();
      expect(await page.evaluate(() => location.hash)).toBe('#/live/documents');
      expect(await hasFocus(prefix)).toBe(true);
    }
  });

  it('state the next step in an empty environment', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, '/sandbox/documents');
    await page.getByText('No documents yet.').waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox/events`);
    await page.getByText('No events yet.').waitFor();
    await page.getByRole('link', { name: 'Create document' }).waitFor();
    const empty = { json: { data: [], next_cursor: 'more' } }; // not the end of a list
    await page.route(/\/v1\/(documents|events|audit)\?/, (route) => route.fulfill(empty));
    for (const [place, text] of [
      ['documents', 'There are more on the next one.'],
      ['documents/a', 'Nothing among the latest events. There are older ones.'],
      ['settings', 'None of the latest changes match. There are older ones.'],
    ] as const) {
      await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox/${place}`);
      await page.getByText(text).waitFor();
    }
  });
});

describe('a scoped token', () => {
  it('can be created, shown once, inspected in the browser, and revoked', async () => {
    const { admin, adminKey } = await service.project();
    await put(admin, 'org:acme:doc-1', { title: 'Draft' });
    const page = await dashboard.signIn(adminKey, '/sandbox/tokens');
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*');
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByText('You are viewing test data').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText(/^Documents .*at least 1 entry/).waitFor(); // the page starts empty
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\nuser:1');
    await page.getByLabel('Lifetime').fill('600');
    await page.getByText('This is 10 min.').waitFor();
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = await copyShown(page);
    const reads = async () => (await service.as(token)('GET', '/v1/documents/org:acme:doc-1')).status;
    expect(await reads()).toBe(200);
    expect(await page.content()).not.toContain(token);

    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.getByLabel('Token', { exact: true }).fill(token);
    await expect.poll(() => fact(page, 'Expires').textContent()).toMatch(/^in (10 min|9 min)/);
    await expect.poll(() => fact(page, 'Status').textContent()).toBe('active');
    const { sub, jti, iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const facts = ['Permissions', 'Environment', 'Key', 'Token id', 'Documents'];
    expect(await Promise.all(facts.map((name) => fact(page, name).textContent()))).toEqual([
      'read',
      'live',
      sub,
      jti,
      'org:acme:*user:1',
    ]);
    const created = fact(page, 'Created').locator('time');
    expect(await created.getAttribute('datetime')).toBe(new Date(iat * 1000).toISOString());
    await page.getByLabel('Document key').fill('org:acme:doc-1');
    await expect
      .poll(() => fact(page, 'Can read').textContent())
      .toBe('yes org:acme:* matches, and the token has the read permission.');
    expect(await fact(page, 'Can write').textContent()).toContain('no write permission');
    await page.getByLabel('Document key').fill('no key/');
    await page.getByText('Document key is not valid.').waitFor();
    await page.getByLabel('Document key').fill('org:other:doc-1');
    await expect.poll(() => fact(page, 'Can read').textContent()).toBe('no None of its patterns matches this key.');
    await page.getByLabel('Document key').fill('org:acme:doc-1');
    await fact(page, 'Can read').getByText('yes').waitFor();
    await page.clock.setFixedTime((iat + 600) * 1000);
    await fact(page, 'Expires').getByText('expired').waitFor();
    const asked = requests.map((url) => new URL(url).pathname);
    expect(new Set(asked)).toEqual(new Set(['/v1/tokens/verify', `/v1/keys/${sub}`]));

    await page.getByRole('button', { name: 'Revoke this token' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('Token revoked.').waitFor();
    expect(await reads()).toBe(401);
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Token id is required.').waitFor();
    await page.getByLabel('Token id').fill(' tok_unknown ');
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    expect(await page.getByRole('dialog').locator('code').textContent()).toBe('tok_unknown');
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
  });
});
