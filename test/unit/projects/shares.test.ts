import { expect, it } from 'vitest';
import { shareKey, shareKeyOf } from '../../../lib/projects/project.ts';

it('spreads projects over all shares, each always in the same share', () => {
  const projects = Array.from({ length: 2000 }, (_, i) => `prj_${i}`);
  const used = new Set(projects.map((id) => shareKeyOf('share', id)));
  expect([...used].sort()).toEqual(Array.from({ length: 32 }, (_, i) => `share${String(i).padStart(2, '0')}`));
  expect(projects.map((id) => shareKeyOf('share', id))).toEqual(projects.map((id) => shareKeyOf('share', id)));
});

it('creates keys of equal length, so that no key is a prefix of another', () => {
  expect([shareKey('a', 0), shareKey('a', 9), shareKey('a', 31)]).toEqual(['a00', 'a09', 'a31']);
});
