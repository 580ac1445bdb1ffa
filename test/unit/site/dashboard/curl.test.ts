import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../../../functions/site/dashboard/deliveries/curl.ts';
import { parseJson as parseShown } from '../../../../functions/site/dashboard/state/api.ts';
import { eventWithId } from '../../../../lib/events/event.ts';
import { type Json, parseJson } from '../../../../lib/json.ts';

const space = { projectId: 'prj_1', environment: 'live' } as const;
const parsePublished = (text: string) => parseJson(text) as { [name: string]: Json };

/** Returns the arguments that a shell passes to curl. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const text = fc.string({ unit: fc.constantFrom(...'\'"\\$`!{}[]*?~;&|<>()#% \n\tä🎉a1'), maxLength: 30 });

describe('a curl command', () => {
  it('passes every text to curl unchanged through a shell', () => {
    fc.assert(
      fc.property(text, text, text, (path, value, body) => {
        const url = `https://example.com/${path}`;
        expect(argumentsOf(curlCommand(url, { 'X-A': value, 'X-B': '1' }, body))).toEqual([
          '-g',
          url,
          '-H',
          `X-A: ${value}`,
          '-H',
          'X-B: 1',
          '--data-raw',
          body,
        ]);
      }),
      { numRuns: 50 },
    );
  });

  it('contains the same body as every attempt', () => {
    const names = fc.constantFrom('1', '2', '10', 'b', 'a', '__proto__', 'constructor', '\u2028', '\ud800', 'ä');
    const digits = fc.constantFrom('1', '-0', '1.0', '1e400', '12345678901234567890').map((text) => `${text}`);
    fc.assert(
      fc.property(fc.dictionary(names, digits), (members) => {
        const data = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
        const published = parsePublished(`{"b":1,"1":2,"data":{${data.reverse().join(',')}}}`);
        const { body } = eventWithId({ ...space, id: 'evt_1', at: 0, type: 'document.changed', data: published });
        expect(JSON.stringify(parseShown(body))).toBe(body);
      }),
    );
  });
});
