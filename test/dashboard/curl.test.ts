import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../functions/dashboard/app/curl.ts';

/** The arguments that a shell hands to curl. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const text = fc.string({ unit: fc.constantFrom(...'\'"\\$`!{}[]*?~;&|<>()#% \n\tä🎉a1'), maxLength: 30 });

describe('a curl command', () => {
  it('hands every text to curl as it is, whatever a shell would make of it', () => {
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
});
