import type { Space } from '../../space.ts';

/*
 * One table. What is read, and how:
 *   project               GetItem   PROJECT#<prj>            PROJECT
 *   key of a credential   GetItem   KEY#<key>                KEY          (one per request)
 *   keys of a project     Query     index by_project: keysOf = <prj>, pk
 *   webhooks of a space   Query     HOOKS#<prj>#<env>        <whk>
 *   event                 GetItem   EVENT#<evt>              EVENT        (its insertion feeds the stream)
 *   deliveries            Query     HOOK#<whk>               <evt>        (newest first, from a time on)
 *   document              GetItem   DOCS#<prj>#<env>         <document_key> (deleted ones stay, as stubs)
 *   documents by prefix   Query     DOCS#<prj>#<env>         begins_with(<prefix>)
 *   connection            GetItem   CONNECTION#<prj>#<env>#<id>           CONNECTION
 *   completed sync cycle  Put once  SYNC#<prj>#<env>#<syn>   SYNC
 *   idempotency record    GetItem   IDEMPOTENCY#<prj>#<env>#<hash>        IDEMPOTENCY
 *   count of webhooks     GetItem   COUNT#<prj>#<env>        WEBHOOKS
 */
export interface ItemKey {
  pk: string;
  sk: string;
}
export type Item = Record<string, unknown>;

const spaceOf = ({ projectId, environment }: Space): string => `${projectId}#${environment}`;

export const itemKey = {
  project: (projectId: string): ItemKey => ({ pk: `PROJECT#${projectId}`, sk: 'PROJECT' }),
  key: (keyId: string): ItemKey => ({ pk: `KEY#${keyId}`, sk: 'KEY' }),
  webhook: (space: Space, id: string): ItemKey => ({ pk: `HOOKS#${spaceOf(space)}`, sk: id }),
  webhookCount: (space: Space): ItemKey => ({ pk: `COUNT#${spaceOf(space)}`, sk: 'WEBHOOKS' }),
  event: (id: string): ItemKey => ({ pk: `EVENT#${id}`, sk: 'EVENT' }),
  delivery: (webhookId: string, eventId: string): ItemKey => ({ pk: `HOOK#${webhookId}`, sk: eventId }),
  document: (space: Space, documentKey: string): ItemKey => ({ pk: `DOCS#${spaceOf(space)}`, sk: documentKey }),
  connection: (space: Space, id: string): ItemKey => ({ pk: `CONNECTION#${spaceOf(space)}#${id}`, sk: 'CONNECTION' }),
  sync: (space: Space, id: string): ItemKey => ({ pk: `SYNC#${spaceOf(space)}#${id}`, sk: 'SYNC' }),
  idempotency: (space: Space, hash: string): ItemKey => ({
    pk: `IDEMPOTENCY#${spaceOf(space)}#${hash}`,
    sk: 'IDEMPOTENCY',
  }),
};

/** DynamoDB's time to live is in seconds. It deletes late: whoever reads compares the time itself. */
export const timeToLive = (atMs: number): number => Math.ceil(atMs / 1000);
