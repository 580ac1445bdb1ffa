import { parseArgs } from 'node:util';
import { UserError } from '../user-error.ts';

/** An option for `parseArgs`, with its description and the placeholder of its value in the help. */
export type Option = { about: string } & (
  | { type: 'string'; value?: string; default?: string; multiple?: boolean }
  | { type: 'boolean'; value?: undefined; default: false }
);

/** The arguments that a command accepts. The help shows them. */
export interface Usage<Options extends Record<string, Option>> {
  /** Such as `npm start`. */
  command: string;
  /** The positional arguments, such as `TYPE`. Without it, there are none. */
  positionals?: string;
  about: string;
  options: Options;
  notes?: string;
}

type ValueOf<O extends Option> = O['type'] extends 'boolean'
  ? boolean
  : O extends { multiple: true }
    ? string[] | undefined
    : O extends { default: string }
      ? string
      : string | undefined;

export interface Parsed<Options extends Record<string, Option>> {
  values: { [Name in keyof Options]: ValueOf<Options[Name]> };
  positionals: string[];
}

const HELP = { help: { type: 'boolean', short: 'h', default: false, about: 'print this text' } } as const;

/** Reads the command line. Returns the help instead if the command line contains `--help`. Throws `UserError`. */
export function parse<Options extends Record<string, Option>>(
  usage: Usage<Options>,
  args: readonly string[],
): Parsed<Options> | string {
  const options: Record<string, Option> = { ...usage.options, ...HELP };
  try {
    const allowPositionals = usage.positionals !== undefined;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals });
    return values.help ? helpOf(usage) : { values: values as Parsed<Options>['values'], positionals };
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new UserError(`${reason}. Run \`${prefixOf(usage)} --help\` for the options.`);
  }
}

/** The value of an option with an integer. Throws `UserError`. */
export function integer(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UserError(`--${option} must be an integer from ${min} to ${max}.`);
}

/** A time in milliseconds. Throws `UserError` if it is not a past time with a time zone. */
export function pastTime(name: string, text: string | undefined, nowMs: number): number {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text ?? '')
    ? Date.parse(text ?? '')
    : Number.NaN;
  if (time <= nowMs) return time;
  throw new UserError(`${name} must be a past time with a time zone, such as 2026-01-31T12:00:00Z.`);
}

/** The start of a command line. npm passes the arguments after `--`. */
const prefixOf = ({ command }: { command: string }): string =>
  command.startsWith('npm ') && !command.includes(' -- ') ? `${command} --` : command;

const WIDTH = 118;

function helpOf({ command, positionals, about, options, notes }: Usage<Record<string, Option>>): string {
  const rows = Object.entries<Option>({ ...options, ...HELP }).map(([name, { value, default: usual, about }]) => [
    value ? `--${name} ${value}` : `--${name}`,
    usual ? `${about} (${usual})` : about,
  ]) as [option: string, about: string][];
  const width = Math.max(...rows.map(([name]) => name.length)) + 3;
  const indent = ' '.repeat(width + 2);
  const lines = rows.map(
    ([name, text]) => `  ${name.padEnd(width)}${wrap(text, WIDTH - indent.length).join(`\n${indent}`)}`,
  );
  const parts = [about, lines.join('\n'), notes].flatMap((part) => part ?? []);
  const usage = [prefixOf({ command }), positionals, '[options]'].filter(Boolean).join(' ');
  return `Usage: ${usage}\n\n${parts.join('\n\n')}\n`;
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
