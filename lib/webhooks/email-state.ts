// The function that delivers imports this file, and does without the schemas of webhooks.

/**
 * The members of a webhook for each email about it: the delivery (event id and run) that sends it, when it was sent, and the end
 * of the claim of the run that is sending it. The deliveries are the one whose sixth failure disabled the webhook, the one whose
 * fourth failure in this outage warned the customer, and a skipped one of the current overload.
 */
export const EMAIL_MEMBERS = {
  disabled: { by: 'disabledBy', sentAt: 'emailedAt', until: 'emailingUntil' },
  failing: { by: 'warnedBy', sentAt: 'warnedAt', until: 'warningUntil' },
  overloaded: { by: 'overloadedBy', sentAt: 'overloadedAt', until: 'overloadingUntil' },
} as const;
/** The states of a webhook that cause an email. */
export type WebhookState = keyof typeof EMAIL_MEMBERS;
type EmailMember<Kind extends 'by' | 'sentAt' | 'until'> = (typeof EMAIL_MEMBERS)[WebhookState][Kind];
export type EmailState = { [Name in EmailMember<'by'>]?: string | undefined } & {
  [Name in EmailMember<'sentAt' | 'until'>]?: number | undefined;
};

/** The change that forgets an email, so that the next one can be sent. */
export const withoutEmail = (what: WebhookState): EmailState =>
  Object.fromEntries(Object.values(EMAIL_MEMBERS[what]).map((name) => [name, undefined]));
