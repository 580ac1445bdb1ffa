import type { Environment } from '../../../../lib/space.ts';
import type { Find } from '../components/similar-keys.ts';
import type { Call, QueryOf } from '../state/api.ts';
import { linkTo } from '../state/router.ts';

type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'since' | 'until'>;

/** Finds the events of a document, with other filters if there are any. `query` has the filters in the link. */
export const findEvents =
  (call: Call, environment: Environment, filter: Filter = {}, query: Record<string, string> = {}): Find =>
  async (key) => {
    const { value } = await call('GET /v1/events', { query: { ...filter, document_key: key, limit: '1' } });
    return value?.data.length
      ? { text: key, href: linkTo(environment, ['events'], { ...query, document_key: key }) }
      : undefined;
  };
