import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  ChangeProject,
  ProjectResource,
  projectResource,
  projectState,
  shareKeyOf,
  testEmailAllowedAt,
} from '../../../lib/projects/project.ts';
import { EmailAddress } from '../../../lib/projects/recipients.ts';
import { violationsOf } from '../../support/violations.ts';

describe('an email address', () => {
  it.each([
    "o'brien@example.com",
    'first.last+tag@mail.example.co.uk',
    '^@d.example',
    'a@xn--e1afmkfd.xn--p1ai',
    `${'x'.repeat(64)}@example.com`,
    `a@${'l'.repeat(63)}.example`,
  ])('is valid: %s', (address) => {
    expect(v.is(EmailAddress, address)).toBe(true);
  });

  it.each([
    ...['', 'a@b', '.a@example.com', 'a..b@example.com', 'a@.example', 'a@-b.example', 'a@b.example.'],
    ...['a b@example.com', 'a@b.example\n', 'é@b.example', '"a b"@example.com', 'a@[192.0.2.1]'],
    ...['A <a@example.com>', 'a@example.com,b@example.com', 'a\r\nBcc: b@c.example', `${'x'.repeat(65)}@example.com`],
    ...[`a@${'l'.repeat(64)}.example`, `a@${'l.'.repeat(126)}example`, `${'x.'.repeat(32)}x@example.com`],
  ])('is invalid: %j', (address) => {
    expect(v.is(EmailAddress, address)).toBe(false);
  });
});

describe('a project in a response', () => {
  const record = { id: 'prj_1', name: 'Acme', emails: ['a@example.com'], cursorSecret: 'secret', createdAt: 0 };

  it('has no attributes of earlier releases', () => {
    const stored = { ...record, onLeak: 'revoke' };
    expect(v.is(ProjectResource, { ...projectResource(stored, 0), source_addresses: [] })).toBe(true);
  });

  it('is being deleted rather than suspended from the start of its deletion', () => {
    expect(projectState({ ...record, suspendedAt: 1, deletingAt: 1 })).toBe('deleting');
  });
});

it('a change of a project to a name with a link is rejected', () => {
  expect(violationsOf(ChangeProject, { name: 'Pay at http://evil.example' })).toEqual(['name must not contain ://']);
});

it('a share of the request rate has projects, and a key of the same length as the others, so that no key is a prefix of another', () => {
  const projects = Array.from({ length: 2000 }, (_, i) => `prj_${i}`);
  const used = new Set(projects.map((id) => shareKeyOf('share', id)));
  expect([...used].sort()).toEqual(Array.from({ length: 32 }, (_, i) => `share${String(i).padStart(2, '0')}`));
});

it.each([
  ['a minute after the last one', 1000, 0, 61_000],
  ['when the budget has a place, if that is later', 1000, 61_001, 61_001],
  ['when the budget has a place, if there was none', undefined, 5, 5],
])('a test email can be sent %s', (_, testEmailAt, placeFreeAt, expected) => {
  expect(testEmailAllowedAt({ testEmailAt }, placeFreeAt)).toBe(expected);
});

it.each([
  ['علی\u200cرضا', []], // zero-width non-joiner
  ['क्\u200dष', []], // zero-width joiner
  ['👩\u200d💻', []],
  ...['\u202eevil', 'in\u00advisible', 'a\u200bb', '\ufeffname', '\u2066a'].map((name): [string, string[]] => [
    name,
    ['name must not contain format characters'],
  ]),
])('a change of a project to the name %j has the violations %j', (name, violations) => {
  expect(violationsOf(ChangeProject, { name })).toEqual(violations);
});
