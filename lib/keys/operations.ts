import { listOf, operationsOf, pageQuery } from '../http/operation.ts';
import { Allowlist, KeyAllowlist } from './allowlist.ts';
import { ChangeKey, CreatedKey, CreateKey, KeyResource, keyParameter } from './key.ts';
import { RotateKey } from './rotation.ts';
import { keyRoutes } from './routes.ts';
import { KeyUsage } from './usage.ts';

const key = { parameters: { key: keyParameter } } as const;

export const keyOperations = operationsOf(keyRoutes, {
  createKey: {
    summary: 'Create a key. It is shown only once',
    body: CreateKey,
    responses: { 201: CreatedKey },
    location: '/v1/keys/{id}',
    problems: ['limit_reached'],
    idempotencyKey: true,
    secrets: ['key'],
  },
  listKeys: {
    summary: 'List the keys of the project',
    query: pageQuery,
    responses: { 200: listOf(KeyResource) },
  },
  getKey: {
    ...key,
    summary: 'Read a key by its id or by the key itself',
    responses: { 200: KeyResource },
  },
  changeKey: {
    ...key,
    summary: 'Rename a key',
    body: ChangeKey,
    responses: { 200: KeyResource },
  },
  getKeyUsage: {
    ...key,
    summary: 'Get the daily usage of a key',
    responses: { 200: KeyUsage },
  },
  rotateKey: {
    ...key,
    summary: 'Rotate a key',
    body: RotateKey,
    responses: { 201: CreatedKey },
    location: '/v1/keys/{id}',
    problems: ['conflict', 'limit_reached'],
    idempotencyKey: true,
    secrets: ['key'],
  },
  revokeKey: {
    ...key,
    summary: 'Revoke a key immediately',
    responses: { 200: KeyResource },
    problems: ['conflict'],
  },
  setAllowlist: {
    ...key,
    summary: 'Restrict a key to IP addresses',
    body: Allowlist,
    responses: { 200: KeyAllowlist },
    problems: ['conflict'],
  },
  getAllowlist: {
    ...key,
    summary: 'Read the allowlist of a key',
    responses: { 200: KeyAllowlist },
  },
});
