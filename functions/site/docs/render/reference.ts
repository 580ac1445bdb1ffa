import { openApiDocument, type Parameter } from '../../../../lib/api/openapi/openapi-document.ts';
import type { JsonSchema } from '../../../../lib/api/openapi/schemas.ts';
import { BASE_URL } from '../../../../lib/http/static.ts';
import type { Article } from './guides.ts';
import { anchorOf, code, escaped, inline } from './html.ts';
import { membersOf, optionsOf, typeOf } from './members.ts';
import { type Call, samplesOf, sampleTabs } from './samples.ts';

interface Content {
  schema: JsonSchema;
  example?: unknown;
}
interface Described {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  parameters: Parameter[];
  requestBody?: { description: string; content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}

const described = (path: string, method: string, operation: object) => ({ path, method, ...(operation as Described) });

/** The API reference: a page for each tag of the OpenAPI document, with a section for each of its operations. */
export function reference(): Article[] {
  const { paths, tags } = openApiDocument(BASE_URL);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => described(path, method, operation as object)),
  );
  return tags.map(({ name, description }) => {
    const sections = operations.filter((each) => each.tags.includes(name)).map(sectionOf);
    return {
      name: `api-${anchorOf(name)}`,
      title: `${name} API`,
      html: `<h1>${name} API</h1>\n<p>${inline(description)}</p>\n${sections.join('\n')}`,
    };
  });
}

/** The OpenAPI document with the samples of the reference, which other viewers show (Redocly, "x-codeSamples"). */
export function documentWithSamples() {
  const document = openApiDocument(BASE_URL);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods) as [string, object][]) {
      const samples = samplesOf(callOf(described(path, method, operation)));
      Object.assign(operation, { 'x-codeSamples': samples });
    }
  }
  return document;
}

type Placed = Described & { path: string; method: string };

const bodyOf = ({ requestBody }: Described): Content | undefined => Object.values(requestBody?.content ?? {})[0];

/** The call of an operation with its examples. */
function callOf(operation: Placed): Call {
  const { path, parameters, security, responses } = operation;
  const [response] = Object.values(responses);
  return {
    method: operation.method.toUpperCase(),
    path: examplePath(path, parameters),
    body: bodyOf(operation)?.example,
    isPublic: security.length === 0,
    returnsJson: response?.content !== undefined,
  };
}

function sectionOf(operation: Placed): string {
  const { operationId, summary, description, path, parameters, requestBody, responses } = operation;
  const body = bodyOf(operation);
  const [[status, response] = [], ...others] = Object.entries(responses);
  const content = Object.values(response?.content ?? {})[0];
  const call = callOf(operation);
  const { method, isPublic } = call;
  // Data for the form that the script of the page adds to the details.
  const tried = { method, path, parameters: parameters.map(tryable), body: body?.example, isPublic };
  return `<section class="operation" id="${operationId}" data-call="${escaped(JSON.stringify(tried))}">
<div>
<h2><a href="#${operationId}">${inline(summary)}</a></h2>
<p class="route"><b class="${operation.method}">${method}</b> <code>${escaped(path)}</code></p>
<p>${inline(description)}</p>
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${parametersOf(parameters)}`}
${body ? `<h3>Body</h3><p>${inline(requestBody?.description ?? '')}</p>${membersOf(body.schema)}` : ''}
<h3>Response ${status}</h3>
<p>${inline(response?.description ?? '')}</p>
${content ? membersOf(content.schema) : ''}
<h3>Other responses</h3>
<ul class="other-responses">${others.map(otherResponse).join('\n')}</ul>
</div>
<div class="samples">
<details class="try"><summary>Try it</summary></details>
${sampleTabs(samplesOf(call))}
${content?.example === undefined ? '' : code(JSON.stringify(content.example, null, 2), 'json')}
</div>
</section>`;
}

const examplePath = (path: string, parameters: readonly Parameter[]): string =>
  path.replace(/\{(\w+)\}/g, (whole, name) => parameters.find((each) => each.name === name)?.example ?? whole);

const tryable = ({ name, in: place, required, example = '', schema }: Parameter) => ({
  name,
  in: place,
  required,
  example,
  options: optionsOf(schema),
});

const parametersOf = (parameters: readonly Parameter[]): string =>
  `<dl class="members">${parameters
    .map(
      ({ name, in: place, required, description = '', schema }) =>
        `<dt><code>${escaped(name)}</code> <small>${place}, ${escaped(typeOf(schema))}${required ? '' : ', optional'}</small></dt>
<dd>${inline(description)}</dd>`,
    )
    .join('\n')}</dl>`;

const otherResponse = ([status, { description }]: [string, { description: string }]): string =>
  `<li>${status} ${inline(description).replace(/<code>(\w+)<\/code>/g, '<a href="errors#$1"><code>$1</code></a>')}</li>`;
