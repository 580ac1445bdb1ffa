import { code, tabs } from './html.ts';

export interface Call {
  method: string;
  /** The path with example parameters. */
  path: string;
  body?: unknown;
  isPublic: boolean;
  returnsJson: boolean;
}

/** A sample call, as in the extension `x-codeSamples` of OpenAPI documents. */
interface Sample {
  lang: string;
  source: string;
}

/** Returns sample calls in each language. `$KEY` is the key of the reader. */
export function samplesOf({ method, path, body, isPublic, returnsJson }: Call): Sample[] {
  const url = `{base_url}${path}`;
  const json = body === undefined ? undefined : JSON.stringify(body, null, 2);
  const curl = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    ...(isPublic ? [] : [`-H "Authorization: Bearer $KEY"`]),
    ...(json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${json.replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
  const headers = [
    ...(isPublic ? [] : ['Authorization: `Bearer ${process.env.KEY}`']),
    ...(json === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(json === undefined ? [] : [`  body: JSON.stringify(${indented(json, '  ')}),`]),
  ];
  const javascript = [
    `const response = await fetch('${url}'${options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`});`,
    'if (!response.ok) throw new Error(await response.text());',
    ...(returnsJson ? ['console.log(await response.json());'] : []),
  ].join('\n');
  const python = [
    'import os, requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    ...(isPublic ? [] : ['    headers={"Authorization": f"Bearer {os.environ[\'KEY\']}"},']),
    ...(json === undefined ? [] : [`    json=${indented(pythonOf(json), '    ')},`]),
    ')',
    'response.raise_for_status()',
    ...(returnsJson ? ['print(response.json())'] : []),
  ].join('\n');
  return [
    { lang: 'bash', source: curl },
    { lang: 'javascript', source: javascript },
    { lang: 'python', source: python },
  ];
}

/** Shows sample calls as tabs. */
export const sampleTabs = (samples: readonly Sample[]): string =>
  tabs(samples.map(({ lang, source }) => code(source, lang)));

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
const pythonOf = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => PYTHON[token] ?? token);
const PYTHON: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
