import { readFileSync } from 'node:fs';
import { snippetsIn } from '../../../functions/site/docs/render/guides.ts';

const guide = () => readFileSync('functions/site/docs/guides/connect-engine.md', 'utf8');

/** Returns the program in a section of the guide about sync engines. */
export function programOf(heading: string): string {
  const program = snippetsIn(guide(), heading).get('javascript');
  if (program === undefined) throw new Error(`The guide has no program "${heading}"`);
  return program;
}

/** Returns the blocks of commands in a section of the guide. */
export function commandsOf(heading: string): string[] {
  const [section = ''] = guide().split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? [];
  return [...section.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, text = '']) => text);
}
