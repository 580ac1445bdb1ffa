import { describe, expect, it } from 'vitest';
import { urlViolations } from '../../../lib/webhooks/endpoint-url.ts';

const NOT_PUBLIC = 'must point to a public host';
const violationsOf = (host: string) => urlViolations(`https://${host}/hook`, 'public');

describe('a host name', () => {
  it.each([
    ...['localhost', 'localhost.', 'LOCALHOST', 'ｌｏｃａｌｈｏｓｔ', 'local\u00adhost', '%6cocalhost', 'localhost..'],
    ...['app.localhost', 'app.localhost.', 'localhost.localdomain', 'ip6-localhost', 'ip6-loopback'],
    ...['printer.local', 'db.internal', 'db.internal.', 'DB.INTERNAL', 'ip-10-0-0-1.eu-west-1.compute.internal'],
    ...[
      'metadata',
      'metadata.google.internal',
      'metadata.google.internal.',
      'instance-data',
      'instance-data.ec2.internal',
    ],
    ...['kubernetes', 'kubernetes.default.svc.cluster.local', 'host.docker.internal'],
    ...[
      'home.arpa',
      'nas.home.arpa',
      'nas.home.arpa.',
      'nas.lan',
      'nas.home',
      'wiki.corp',
      'wiki.intranet',
      'a.private',
    ],
    ...['intranet', 'com', 'com.', 'a.onion', 'a.alt'],
    ...[
      '.',
      '..',
      'a..example.com',
      '.example.com',
      'example.com..',
      '".example.com',
      "a'b.example.com",
      '*.example.com',
    ],
  ])('is rejected when saving: %s', (name) => {
    expect(violationsOf(name)).toEqual([NOT_PUBLIC]);
  });

  it.each([
    ...['example.com', 'example.com.', 'EXAMPLE.com', 'a.b.c.example.com', 'my_host.example.com', 'müller.example'],
    ...[
      'localhost.example.com',
      'mylocalhost.com',
      'notlocal.de',
      'internal.example.com',
      'xinternal.com',
      'homearpa.de',
      'a.clan',
    ],
    ...['127.0.0.1.nip.io', '10.0.0.1.nip.io', '169-254-169-254.sslip.io', 'localtest.me', 'metadata.tencentyun.com'],
  ])('is saved, and its addresses are checked at every connection: %s', (name) => {
    expect(violationsOf(name)).toEqual([]);
  });

  it('has labels of at most 63 characters and at most 253 characters in total', () => {
    expect(violationsOf(`${'a'.repeat(63)}.com`)).toEqual([]);
    expect(violationsOf(`${'a'.repeat(64)}.com`)).toEqual([NOT_PUBLIC]);
    expect(violationsOf(`${'a.'.repeat(125)}com.`)).toEqual([]);
    expect(violationsOf(`${'a.'.repeat(125)}info`)).toEqual([NOT_PUBLIC]);
  });
});
