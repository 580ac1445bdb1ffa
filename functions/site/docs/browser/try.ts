import { joinTabs } from '../../dashboard/state/other-tabs.ts';
import { parseJson } from '../../dashboard/state/parse-json.ts';
import { docsKey, forgetKeys, rememberDocsKey, watchKeys } from '../../dashboard/state/remembered-key.ts';
import { element } from './element.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  example: string;
  /** The words that the parameter can be. Empty for other types. */
  options: string[];
}
interface Call {
  method: string;
  path: string;
  parameters: Parameter[];
  body?: unknown;
  isPublic: boolean;
}

/** Adds a form to every operation of the reference. It calls the API with the key of the reader and shows the response. */
export function addForms(): void {
  for (const section of document.querySelectorAll<HTMLElement>('.operation')) {
    const call = JSON.parse(section.dataset.call ?? '{}') as Call;
    const details = section.querySelector<HTMLDetailsElement>('.try');
    details?.addEventListener('toggle', () => {
      if (details.open && !details.querySelector('form')) details.append(formFor(call));
    });
  }
  watchKeys(removeForms);
  const onSignOut = () => {
    forgetKeys();
    removeForms();
  };
  joinTabs({ asksForKey: false, onKey() {}, onSignOut });
}

/** Removes keys and responses from the page when its keys end. */
function removeForms(): void {
  for (const form of document.querySelectorAll('.try form')) form.remove();
  for (const details of document.querySelectorAll<HTMLDetailsElement>('.try')) details.open = false;
}

function formFor(call: Call): HTMLElement {
  const initial = docsKey() ?? '';
  const key = element('input', { type: 'password', autocomplete: 'off', value: initial });
  const inputs = call.parameters.map((parameter) => ({ parameter, input: inputFor(parameter) }));
  const body = element('textarea', { rows: 8, spellcheck: false, value: JSON.stringify(call.body, null, 2) ?? '' });
  const button = element('button', { type: 'submit' }, 'Send');
  const output = element('div', { role: 'status', className: 'result' });
  const form = element(
    'form',
    {},
    ...(call.isPublic ? [] : [element('label', {}, 'Key or token', key)]),
    ...inputs.map(({ parameter, input }) => element('label', {}, parameter.name, input)),
    ...(call.body === undefined ? [] : [element('label', {}, 'Body', body)]),
    button,
    output,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.ariaDisabled) return; // the response to the last request is missing
    if (key.value !== initial) rememberDocsKey(key.value);
    const values = inputs
      .filter(({ input }) => input.value !== '')
      .map(({ parameter, input }) => ({ ...parameter, value: input.value }));
    output.textContent = 'Sending…';
    button.ariaDisabled = 'true';
    const { status, text } = await send(call, values, { key: key.value, body: body.value });
    button.ariaDisabled = null;
    output.replaceChildren(element('b', {}, status), element('pre', { tabIndex: 0 }, element('code', {}, text)));
  });
  return form;
}

/** A field without a value, because an example id would return 404. */
function inputFor({ required, example, options }: Parameter): HTMLInputElement | HTMLSelectElement {
  if (options.length === 0) return element('input', { required, placeholder: example });
  const none = required ? [] : [''];
  return element('select', {}, ...[...none, ...options].map((value) => element('option', { value }, value)));
}

type Given = Parameter & { value: string };

async function send(
  { method, path, body: example, isPublic }: Call,
  values: readonly Given[],
  { key, body }: { key: string; body: string },
): Promise<{ status: string; text: string }> {
  const of = (place: Parameter['in']) => values.filter((parameter) => parameter.in === place);
  const filled = of('path').reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(of('query').map(({ name, value }) => [name, value])).toString();
  const base = document.querySelector<HTMLElement>('.bar')?.dataset.base ?? '';
  const headers = {
    ...(!isPublic && { Authorization: `Bearer ${key}` }),
    ...(example !== undefined && { 'Content-Type': 'application/json' }),
    ...Object.fromEntries(of('header').map(({ name, value }) => [name, value])),
  };
  try {
    const url = `${base}${filled}${query && `?${query}`}`;
    const response = await fetch(url, { method, headers, ...(example !== undefined && { body }) });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: `${response.status} ${response.statusText}`,
      text: isJson && text ? JSON.stringify(parseJson(text), null, 2) : text,
    };
  } catch (error) {
    return { status: 'No response', text: String(error) };
  }
}
