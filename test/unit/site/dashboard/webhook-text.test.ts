import { describe, expect, it } from 'vitest';
import {
  headersOf,
  headerText,
  hiddenIn,
  linesOf,
} from '../../../../functions/site/dashboard/webhooks/webhook-text.ts';

describe('the text of a form', () => {
  it('has an entry in every line that is not empty', () => {
    expect(linesOf(' org:acme:*\n\n\torg:b \r\n')).toEqual(['org:acme:*', 'org:b']);
    expect(linesOf(' \n')).toEqual([]);
  });

  it('has one header per line, whose value can contain colons', () => {
    expect(headersOf('X-Time: 12:00\nAuthorization:Bearer a b\nX-Empty')).toEqual({
      'X-Time': '12:00',
      Authorization: 'Bearer a b',
      'X-Empty': '',
    });
    expect(headersOf(headerText({ a: '1', b: '2' }))).toEqual({ a: '1', b: '2' });
  });

  it('keeps hidden headers without a change, and requires their values after a change', () => {
    const saved = headerText({ 'X-Tenant': '***', 'X-Key': '***' });
    expect(hiddenIn(saved, saved)).toBeUndefined();
    expect(hiddenIn('X-Tenant: acme\nX-Key: ***', saved)).toContain('X-Key');
    expect(hiddenIn('X-Tenant: acme', saved)).toBeUndefined();
    expect(hiddenIn('', saved)).toBeUndefined();
  });
});
