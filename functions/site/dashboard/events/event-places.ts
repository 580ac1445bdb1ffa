import type { Environment } from '../../../../lib/space.ts';
import { filterOf } from '../components/document-text.ts';
import type { Find } from '../components/similar-keys.ts';
import type { Call, QueryOf } from '../state/api.ts';
import { linkTo } from '../state/router.ts';

type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'since' | 'until'>;

/** A page of a prefix can be short. */
const LIMIT = '25';

/** Finds the events of a document or a prefix, with other filters if there are any. `query` has the filters in the link. */
export const findEvents =
  (call: Call, environment: Environment, filter: Filter = {}, query: Record<string, string> = {}): Find =>
  async (key) => {
    const { value } = await call('GET /v1/events', { query: { ...filter, ...filterOf(key), limit: LIMIT } });
    return value?.data.length
      ? { text: key, href: linkTo(environment, ['events'], { ...query, ...filterOf(key) }) }
      : undefined;
  };
