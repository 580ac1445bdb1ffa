import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandsOf, programOf } from '../../../stack/engines/guide.ts';

const guide = readFileSync('functions/site/docs/guides/connect-engine.md', 'utf8');
const { dependencies } = JSON.parse(readFileSync('test/stack/engines/package.json', 'utf8'));

describe('the guide for sync engines', () => {
  it('needs at most 400 words, programs included, up to the first verified event', () => {
    const [start = ''] = guide.replaceAll(/<!--.*?-->/gs, '').split('The receiver prints `verified document.created`');
    expect(start.length).toBeLessThan(guide.length / 2);
    expect(start.split(/\s+/).length).toBeLessThanOrEqual(400);
  });

  it('connects an engine with five lines', () => {
    expect(programOf('The engine').trim().split('\n').filter(Boolean)).toHaveLength(5);
  });

  it('installs the versions that are tested', () => {
    const commands = ['Install', 'Automerge', 'Any other engine'].flatMap(commandsOf).join();
    const installed = [...commands.matchAll(/([@\w/-]+)@(\d+)/g)].map(([, name = '', major]) => [name, major]);
    expect(installed.length).toBeGreaterThan(6);
    expect(installed).toEqual(installed.map(([name = '']) => [name, dependencies[name]?.split('.')[0]]));
  });

  it('verifies with the library of Standard Webhooks, so its secret has the form that the library accepts', () => {
    expect(programOf('A receiver')).toContain("from 'standardwebhooks'");
    expect(commandsOf('Run it').join()).toContain('SECRET=whsec_$(openssl rand -base64 24)');
  });
});
