import { expect, it } from 'vitest';
import { command } from '../../infra/commands/command.ts';
import { dev } from '../../infra/commands/dev.ts';
import { fitted } from '../../infra/commands/fitted.ts';
import { init } from '../../infra/commands/init.ts';
import { ops } from '../../infra/commands/ops.ts';
import { USAGE } from '../../infra/local/arguments.ts';
import { ran } from '../support/shell.ts';

const start = command(USAGE, async () => {});
const LINES = [
  ...[
    [start, ''],
    [init, ''],
    [ops, ''],
    [dev('document-sync'), ''],
  ],
  ...['projects', 'restore', 'replay', 'smoke'].map((name) => [ops, name] as const),
  ...['listen', 'trigger'].map((name) => [dev('npm run dev --'), name] as const),
] as const;

const HELPS = LINES.map(([run, name]) => ({
  line: `${run.name} ${name}`,
  helpIn: async (columns: number) =>
    (await ran(run, [...(name === '' ? [] : [name]), '--help'], {}, { columns })).stdout,
}));

it.each(HELPS)('the help of $line fits terminals of 60 and 80 columns, and loses no word', async ({ helpIn }) => {
  const words = (text: string) => text.split(/\s+/);
  const wide = await helpIn(1000);
  for (const columns of [60, 80]) {
    const help = await helpIn(columns);
    expect(help.split('\n').filter((text) => text.length > columns)).toEqual([]);
    expect(words(help)).toEqual(words(wide));
  }
});

it('aligns the second column, and starts it on its own line without space for it', () => {
  const help =
    'One\ntwo.\n\n  --port N   the port of the API, which is free\n  --a-long-option NAME   a name of two words\n';
  const fits = [
    'One two.',
    '',
    '  --port N   the port of the API, which',
    '             is free',
    '  --a-long-option NAME',
    '      a name of two words',
    '',
  ];
  expect(fitted(help, 41)).toBe(fits.join('\n'));
});

it('breaks no word that is longer than a line', () => {
  expect(fitted('See https://example.com/long and others', 10)).toBe('See\nhttps://example.com/long\nand others');
});
