import { Button } from '../components/basics.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { Elapsed } from '../components/time.tsx';
import type { ResponseOf } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

type Project = ResponseOf<'GET /v1/project'>;
type UnconfirmedEmail = Project['unconfirmed_emails'][number];

/** The addresses whose owners have yet to confirm them. An undeliverable one has its own note. */
export const unconfirmedIn = ({ unconfirmed_emails, undeliverable_emails }: Project): UnconfirmedEmail[] =>
  unconfirmed_emails.filter(({ email }) => !undeliverable_emails.some((each) => each.email === email));

/** Whether no address receives notifications. */
export const isSilent = ({ emails, undeliverable_emails, unconfirmed_emails }: Project): boolean =>
  emails.every((email) => [...undeliverable_emails, ...unconfirmed_emails].some((each) => each.email === email));

/** A new address that receives no emails yet, with a button that sends its link again. */
export function Unconfirmed({ of: { email, requested_at }, onSend }: { of: UnconfirmedEmail; onSend(): void }) {
  const { call, announce } = useSession();
  const sending = useSending(() => call('POST /v1/project/send-confirmation', { body: { email } }));
  const send = async () => {
    if (!(await sending.send())) return;
    announce(`A link is on its way to ${email}.`);
    onSend();
  };
  return (
    <Callout kind="warning">
      <p>
        {email} receives no notifications until its owner confirms it with the link in an email.
        {requested_at && (
          <>
            {' '}
            The email was requested <Elapsed since={requested_at} /> ago.
          </>
        )}
      </p>
      <ProblemNote problem={sending.problem} />
      <Button onClick={send} busy={sending.busy} label={`Send the link to ${email} again`}>
        Send again
      </Button>
    </Callout>
  );
}
