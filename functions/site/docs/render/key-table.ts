import { apiOperations } from '../../../../lib/api/operations.ts';
import { KEY_TYPES, type KeyType } from '../../../../lib/credentials.ts';

const ENVIRONMENTS: Record<KeyType, string> = {
  admin: 'both: <code>?environment=sandbox</code> or <code>live</code> (default)',
  live: 'live',
  test: 'sandbox',
  read: 'live',
};

/** The part of the API that a path belongs to, such as `/v1/webhooks`. */
const resourceOf = (path: string): string => path.split('/').slice(0, 3).join('/');

/** The table of key types. The authorizer uses the same declarations. */
export function keyTable(): string {
  const rows = [...KEY_TYPES].sort().map((type) => {
    const cells = [`<code>svc_${type}_</code>`, ENVIRONMENTS[type], accessOf(type)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<div class="wide" tabindex="0"><table><thead><tr><th>Type</th><th>Environment</th><th>Access</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** The resources that a key type can call, or those that it cannot call if they are fewer. */
function accessOf(type: KeyType): string {
  const operations = apiOperations.filter(({ callers }) => callers !== 'anyone');
  const resources = [...new Set(operations.map(({ path }) => resourceOf(path)))];
  const allowed = operations.filter(({ callers }) => callers.includes(type));
  const isAllowed = (resource: string) => allowed.some(({ path }) => resourceOf(path) === resource);
  const [can, cannot] = [resources.filter(isAllowed), resources.filter((resource) => !isAllowed(resource))];
  const named = (all: readonly string[]) => all.map((resource) => `<code>${resource}</code>`).join(', ');
  if (cannot.length === 0) return 'everything in its project';
  if (cannot.length < can.length) return `everything except ${named(cannot)}`;
  return `only ${named(can)}`;
}
