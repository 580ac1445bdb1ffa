import { MAX_EMAILS } from '../../../lib/emails/email-budget.ts';
import type { Performed } from './scene.ts';
import { BUDGET, SKIPPED, SUBSCRIBED, type Work } from './work.ts';

/** The requests of a caller, one each second. */
export const REQUESTS = 12;

/** The most that requests may cause: some work for each of them, and some however many they are. */
export interface Ceiling {
  each: Partial<Work>;
  total?: Partial<Work>;
  /**
   * The bytes of the kinds of items that grow with the number of requests. Their limits: 30 mailboxes of a project, 1,100 keys, 200
   * lines of a summary, five earlier secrets of a webhook, and the size of a document.
   */
  growing?: Readonly<Record<string, number>>;
}

const ATTEMPTS = 6;
/** The deliveries that the budget allows while the requests are sent, and those of the request that exceeds it. */
const DELIVERIES = BUDGET + (REQUESTS * BUDGET) / 60 + 2 * SUBSCRIBED;
/** The warning about a failing webhook and the email about a disabled one. */
const OUTAGE_EMAILS = 2;

/** The retries of deliveries, all of which fail. */
const retries = (deliveries: number): Work => ({
  messages: (ATTEMPTS + 2) * deliveries,
  posts: ATTEMPTS * deliveries,
  items: 2 * deliveries + 6 * SUBSCRIBED, // deliveries and stats
  emails: OUTAGE_EMAILS * SUBSCRIBED,
  reads: 5 * ATTEMPTS * deliveries,
});

const read = { each: { reads: 4 } };
/** A page of a list, whose entries are in several partitions. */
const list = { each: { reads: 130 } };
const change = { each: { reads: 5, items: 2 } };
/** A change of which the owners of a project are told. */
const toldChange = { each: { reads: 7, items: 2 }, total: { messages: MAX_EMAILS, emails: MAX_EMAILS, reads: 30 } };
const email = { each: { reads: 5 }, total: { messages: 2, emails: 2, items: 2, reads: 5 } };
const publication = { each: { reads: 5, items: 6 }, total: retries(DELIVERIES) };
const document = 200 + 1000 * REQUESTS;

/** The most reads of a page of events with their outcomes, in addition to those of the page: deliveries and webhooks. */
export const OUTCOME_READS = 1000 + 100;

/** The ceilings of all operations. A new operation needs one. */
export const ceilings = {
  createKey: { ...toldChange, each: { reads: 7, items: 3 }, growing: { KEYS: 30 * 1100, EMAILS: 60 * 200 } },
  changeKey: change,
  rotateKey: toldChange,
  revokeKey: change,
  setAllowlist: change,
  createToken: { each: { reads: 4 } },
  createDashboardLink: { each: { reads: 4 } },
  revokeToken: change,
  changeProject: { ...toldChange, growing: { PROJECT: 1000 + 30 * 150, EMAILS: 60 * 200 } },
  sendTestEmail: email,
  confirmEmail: email,
  sendConfirmation: email,
  createWebhook: { each: { reads: 4, items: 3 } },
  changeWebhook: { each: { reads: 7, items: 2 } },
  deleteWebhook: change,
  rotateSecret: { ...change, growing: { HOOKS: 1500 } },
  testWebhook: { each: { reads: 6, items: 2, messages: 1, posts: 1 } },
  redeliver: { each: { reads: 16, messages: 2, posts: 1 }, total: retries(1) },
  recover: { each: { reads: 14 }, total: retries(SKIPPED + 2) },
  stopRecovery: { each: { reads: 5 }, total: { messages: 1, items: 1 } },
  publishEvent: publication,
  publishEvents: publication,
  putDocument: publication,
  patchDocument: { ...publication, growing: { DOCS: document } },
  deleteDocument: { each: { reads: 5 }, total: retries(SUBSCRIBED) },
  sync: { ...publication, growing: { DOCS: document } },
  renewConnection: { each: { reads: 5 }, total: retries(SUBSCRIBED) },
  closeConnection: { each: { reads: 5 }, total: { messages: 1, reads: 2 } },
  renewEngine: { each: retries(SUBSCRIBED), total: retries(SUBSCRIBED) }, // each one opens a connection, which is lost once
  closeEngine: { each: { reads: 5 }, total: { messages: 34, reads: 40 } },
  confirmAddress: { each: { reads: 2 }, total: { items: 2 } },
  listKeys: { each: { reads: 10 } },
  getKey: read,
  getKeyUsage: read,
  getAllowlist: read,
  listTokenKeys: { each: { reads: 6 } },
  verifyToken: read,
  getProject: read,
  listAudit: { each: { reads: 60 } },
  listWebhooks: { each: { reads: 40 } },
  getWebhook: { each: { reads: 7 } },
  listDeliveries: { each: { reads: 40 } },
  getDelivery: { each: { reads: 5 } },
  getRecovery: list,
  listEvents: list,
  getEvent: read,
  listEventDeliveries: { each: { reads: 20 } },
  getStats: { each: { reads: 40 } },
  listDocuments: read,
  getDocument: read,
} as const satisfies Readonly<Record<Performed, Ceiling>>;

/** The most work of some requests of an operation. */
export function ceilingOf(id: Performed, requests: number): Work {
  const { each, total }: Ceiling = ceilings[id];
  const most = (name: keyof Work) => requests * (each[name] ?? 0) + (total?.[name] ?? 0);
  return {
    messages: most('messages'),
    posts: most('posts'),
    items: most('items'),
    emails: most('emails'),
    reads: most('reads'),
  };
}
