import { ADMIN, listOf, operation, page } from '../http/operation.ts';
import { Allowlist, KeyAllowlist } from './allowlist.ts';
import { ChangeKey, CreatedKey, CreateKey, KeyResource, keyParameter, RotateKey } from './key.ts';
import { KeyUsage } from './usage.ts';

const keys = { function: 'keys', callers: ADMIN } as const;
const key = { ...keys, parameters: { key: keyParameter } } as const;

export const keyOperations = {
  createKey: operation({
    ...keys,
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create a key. It is shown only once',
    body: CreateKey,
    responses: { 201: CreatedKey },
    location: '/v1/keys/{id}',
    problems: ['limit_reached'],
    idempotencyKey: true,
    secrets: ['key'],
  }),
  listKeys: operation({
    ...keys,
    method: 'GET',
    path: '/v1/keys',
    summary: 'List the keys of the project',
    query: page,
    responses: { 200: listOf(KeyResource) },
  }),
  getKey: operation({
    ...key,
    method: 'GET',
    path: '/v1/keys/{key}',
    summary: 'Read a key by its id or by the key itself',
    responses: { 200: KeyResource },
  }),
  changeKey: operation({
    ...key,
    method: 'PATCH',
    path: '/v1/keys/{key}',
    summary: 'Rename a key',
    body: ChangeKey,
    responses: { 200: KeyResource },
  }),
  getKeyUsage: operation({
    ...key,
    method: 'GET',
    path: '/v1/keys/{key}/usage',
    summary: 'Get the daily usage of a key',
    responses: { 200: KeyUsage },
  }),
  rotateKey: operation({
    ...key,
    method: 'POST',
    path: '/v1/keys/{key}/rotate',
    summary: 'Rotate a key',
    body: RotateKey,
    responses: { 201: CreatedKey },
    location: '/v1/keys/{id}',
    problems: ['conflict', 'limit_reached'],
    idempotencyKey: true,
    secrets: ['key'],
  }),
  revokeKey: operation({
    ...key,
    method: 'POST',
    path: '/v1/keys/{key}/revoke',
    summary: 'Revoke a key immediately',
    responses: { 200: KeyResource },
    problems: ['conflict'],
  }),
  setAllowlist: operation({
    ...key,
    method: 'POST',
    path: '/v1/keys/{key}/allowlist',
    summary: 'Restrict a key to IP addresses',
    body: Allowlist,
    responses: { 200: KeyAllowlist },
    problems: ['conflict'],
  }),
  getAllowlist: operation({
    ...key,
    method: 'GET',
    path: '/v1/keys/{key}/allowlist',
    summary: 'Read the allowlist of a key',
    responses: { 200: KeyAllowlist },
  }),
};
