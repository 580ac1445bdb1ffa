import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import * as v from 'valibot';
import { timestampInput } from '../../lib/schema.ts';
import { UserError } from '../user-error.ts';

/** An option for `parseArgs`, with its description and the placeholder of its value in the help. */
export type Option = ParseArgsOptionDescriptor & { about: string; value?: string };

/** The arguments that a command accepts. The help shows them. */
export interface Usage<Options extends Record<string, Option>> {
  /** Such as `npm start --`. A command of a group has only its own name. */
  command: string;
  /** The positional arguments, such as `TYPE`. Without it, there are none. */
  positionals?: string;
  /** The first line describes the command in the help of its group. */
  about: string;
  options: Options;
  notes?: string;
}

export type Parsed<Options extends Record<string, Option>> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>;

const HELP = { help: { type: 'boolean', short: 'h', about: 'print this text' } } as const;

/** Reads the command line. Returns the help instead if the command line contains `--help`. Throws `UserError`. */
export function parse<Options extends Record<string, Option>>(
  usage: Usage<Options>,
  args: readonly string[],
): Parsed<Options> | string {
  const options: Record<string, Option> = { ...usage.options, ...HELP };
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: usage.positionals !== undefined });
    return parsed.values.help ? helpOf({ ...usage, options }) : (parsed as Parsed<Options>);
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new UserError(`${reason}. Run \`${usage.command} --help\` for the options.`);
  }
}

function helpOf({ command, positionals, about, options, notes }: Usage<Record<string, Option>>): string {
  const rows = Object.entries(options).map(([name, { value, default: usual, about }]) => [
    value ? `--${name} ${value}` : `--${name}`,
    usual ? `${about} (${usual})` : about,
  ]);
  const line = [command, positionals, '[options]'].filter(Boolean).join(' ');
  return `Usage: ${line}\n\n${[about, table(rows), notes].filter(Boolean).join('\n\n')}\n`;
}

/** Aligns the second column of the rows. */
export function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = '']) => first.length)) + 3;
  return rows.map(([first = '', second]) => `  ${first.padEnd(width)}${second}`).join('\n');
}

/** The value of an option with an integer. Throws `UserError`. */
export function integer(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UserError(`--${option} must be an integer from ${min} to ${max}.`);
}

/** A time in milliseconds. Throws `UserError` if it is not a past time with a time zone. */
export function pastTime(name: string, text = ''): number {
  const { success, output } = v.safeParse(timestampInput, text);
  if (success && output <= Date.now()) return output;
  throw new UserError(`${name} must be a past time with a time zone, such as 2026-01-31T12:00:00Z.`);
}
