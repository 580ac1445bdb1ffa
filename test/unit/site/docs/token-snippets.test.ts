import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { snippetsIn } from '../../../../functions/site/docs/render/guides.ts';
import { generateKey } from '../../../../lib/keys/key.ts';
import { newTokenId } from '../../../../lib/keys/revoked-tokens.ts';
import { signToken } from '../../../../lib/keys/token.ts';
import { tokenKey, tokenKeySet } from '../../../../lib/keys/token-keys.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';

const HOUR_SECONDS = 3600;
const directory = temporaryDirectory();
const python = process.env.PYTHON ?? 'python3';
const snippets = snippetsIn(readFileSync('functions/site/docs/guides/tokens.md', 'utf8'), 'Verify with a library');

/** Wraps each snippet in a program that prints the user of each token, or `-` for a token that is not active. */
const PROGRAMS: { language: string; command: string[]; file: string; around(code: string): string; canRun: boolean }[] =
  [
    {
      language: 'javascript',
      command: [process.execPath],
      file: 'verified.mjs',
      around: (code) => `${code.replace("'jose'", JSON.stringify(resolve('node_modules/jose/dist/webapi/index.js')))}
const [keySet, project, ...tokens] = process.argv.slice(2);
const userOf = (token) => verified(token, JSON.parse(keySet), project).then(({ user }) => user, () => '-');
console.log((await Promise.all(tokens.map(userOf))).join());`,
      canRun: true,
    },
    {
      language: 'python',
      command: [python],
      file: 'verified.py',
      around: (code) => `import json, sys
${code}
def user_of(token):
    try:
        return verified(token, json.loads(sys.argv[1]), sys.argv[2])["user"]
    except jwt.PyJWTError:
        return "-"
print(",".join(user_of(token) for token in sys.argv[3:]))`,
      canRun: spawnSync(python, ['-c', 'import jwt, cryptography']).status === 0,
    },
    {
      language: 'go',
      command: ['go', 'run'],
      file: 'verified.go',
      around: (
        code,
      ) => `${code.replace('package tokens', 'package main').replace('import (', 'import (\n"fmt"\n"os"\n')}
func main() {
  var keySet KeySet
  if err := json.Unmarshal([]byte(os.Args[1]), &keySet); err != nil { panic(err) }
  users := []string{}
  for _, token := range os.Args[3:] {
    user := "-"
    if claims, err := Verified(token, keySet, os.Args[2]); err == nil { user = claims.User }
    users = append(users, user)
  }
  fmt.Println(strings.Join(users, ","))
}`,
      canRun: spawnSync('go', ['version']).status === 0,
    },
  ];

it('is shown in three languages', () => {
  expect([...snippets.keys()]).toEqual(PROGRAMS.map(({ language }) => language));
});

it.each(
  PROGRAMS.filter(({ canRun }) => canRun),
)('accepts exactly the active tokens without a request: $language', async ({ language, command, file, around }) => {
  const now = Date.now();
  const newKey = (more: object = {}) =>
    generateKey({ projectId: 'prj_1', type: 'live', name: null, ...more }, now, randomBytes).record;
  const [key, ending, ended, unknown] = [
    newKey(),
    newKey({ expiresAt: now + (HOUR_SECONDS * 1000) / 2 }),
    newKey(),
    newKey(),
  ];
  const tokenOf = (
    user: string,
    parent = key,
    { projectId = 'prj_1', at = now, ttl = HOUR_SECONDS, tokenId = '' } = {},
  ) => {
    const id = tokenId || newTokenId(parent, ttl, at, randomBytes);
    const grant = {
      keyId: parent.id,
      projectId,
      environment: 'live',
      documents: ['a:*'],
      permissions: ['read'],
    } as const;
    const given = { ...grant, documents: [...grant.documents], permissions: [...grant.permissions] };
    return signToken({ ...given, tokenId: id, user }, ttl, at, parent.tokenSecret);
  };
  const revoked = newTokenId(key, HOUR_SECONDS, now, randomBytes);
  const keys = [{ ...key, revokedTokens: [revoked] }, ending].map((each) => tokenKey(each, 'live', now));
  const keySet = tokenKeySet([
    ...keys.flatMap((each) => each ?? []),
    { ...(tokenKey(ended, 'live', now) ?? expect.fail()), expires_at: new Date(now - 1000).toISOString() },
  ]);
  const [head = '', claims = '', signature = ''] = (await tokenOf('ann')).split('.');
  const other = generateKeyPairSync('ed25519').privateKey;
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const confused = `${encoded({ alg: 'HS256', typ: 'svc-doc+jwt', kid: key.id })}.${claims}`;
  const secret = Buffer.from(key.publicKey, 'base64url');
  const tokens = [
    await tokenOf('ann'),
    await tokenOf('bob', ending),
    await tokenOf('expired key', ended),
    await tokenOf('unknown key', unknown),
    await tokenOf('revoked', key, { tokenId: revoked }),
    await tokenOf('expired', key, { at: now - 120_000, ttl: 60 }),
    await tokenOf('another project', key, { projectId: 'prj_2' }),
    `${head}.${claims}.${sign(null, Buffer.from(`${head}.${claims}`), other).toString('base64url')}`,
    `${head}.${encoded({ ...JSON.parse(String(Buffer.from(claims, 'base64url'))), user: 'eve' })}.${signature}`,
    `${confused}.${createHmac('sha256', secret).update(confused).digest('base64url')}`,
    `${encoded({ alg: 'none', typ: 'svc-doc+jwt', kid: key.id })}.${claims}.`,
    'a.b.c',
    '',
  ];
  const program = join(directory, file);
  writeFileSync(program, around(snippets.get(language) ?? ''));
  const [name = '', ...args] = command;
  const printed = execFileSync(name, [...args, program, JSON.stringify(keySet), 'prj_1', ...tokens], {
    encoding: 'utf8',
  });
  expect(printed.trim()).toBe(['ann', 'bob', ...Array(tokens.length - 2).fill('-')].join());
});
