import { randomUUID } from 'node:crypto';
import { matchesPattern } from '../event-pattern.ts';
import { ACCOUNT, REGION, type Template } from '../template.ts';

/** An accepted email, as SES describes it in its events. */
export interface AcceptedEmail {
  recipient: string;
  source: string;
  messageId: string;
  configurationSet: string;
  tags: Readonly<Record<string, string>>;
}

/** The kinds of events that the local SES simulates, by the local part of the recipient. */
const SIMULATED = { bounce: 'Bounce', complaint: 'Complaint' } as const;
export type EmailEventType = (typeof SIMULATED)[keyof typeof SIMULATED];

export const simulatedEvent = (recipient: string): EmailEventType | undefined =>
  SIMULATED[recipient.split('@')[0]?.toLowerCase() as keyof typeof SIMULATED];

interface EventDestination {
  ConfigurationSetName: string;
  EventDestination: {
    Enabled: boolean;
    MatchingEventTypes: string[];
    EventBridgeDestination?: { EventBusArn: string };
  };
}
interface Rule {
  State: string;
  EventPattern: object;
  Targets: { Arn: string }[];
}

/**
 * Publishes events of emails as the configuration sets of the template require, and invokes the targets of the matching rules.
 * `invoke` receives the ARN of a function.
 */
export function emailEvents(template: Pick<Template, 'ofType'>, invoke: (functionArn: string, event: object) => void) {
  const destinations = template.ofType<EventDestination>('AWS::SES::ConfigurationSetEventDestination');
  const rules = template.ofType<Rule>('AWS::Events::Rule').filter(({ properties }) => properties.State === 'ENABLED');
  return (type: EmailEventType, email: AcceptedEmail, at: Date): void => {
    const isPublished = destinations.some(
      ({ properties: { ConfigurationSetName, EventDestination: to } }) =>
        ConfigurationSetName === email.configurationSet &&
        to.Enabled &&
        to.EventBridgeDestination &&
        to.MatchingEventTypes.some((each) => each.toLowerCase() === type.toLowerCase()),
    );
    const event = emailEvent(type, email, at);
    for (const { properties } of isPublished ? rules : [])
      if (matchesPattern(properties.EventPattern, event)) for (const { Arn } of properties.Targets) invoke(Arn, event);
  };
}

/** An event of SES (SES Developer Guide, "Examples of event data"). */
function emailEvent(type: EmailEventType, email: AcceptedEmail, at: Date) {
  const { recipient, source, messageId, configurationSet, tags } = email;
  const lists = Object.entries({ 'ses:configuration-set': configurationSet, ...tags }).map(([tag, value]) => [
    tag,
    [value],
  ]);
  const timestamp = at.toISOString();
  const report = {
    Bounce: {
      bounce: {
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [{ emailAddress: recipient, action: 'failed', status: '5.1.1' }],
        timestamp,
      },
    },
    Complaint: { complaint: { complainedRecipients: [{ emailAddress: recipient }], timestamp } },
  };
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': type === 'Bounce' ? 'Email Bounced' : 'Email Complaint Received',
    source: 'aws.ses',
    account: ACCOUNT,
    time: timestamp,
    region: REGION,
    resources: [`arn:aws:ses:${REGION}:${ACCOUNT}:configuration-set/${configurationSet}`],
    detail: {
      eventType: type,
      ...report[type],
      mail: { timestamp, source, messageId, destination: [recipient], tags: Object.fromEntries(lists) },
    },
  };
}
