import { Button } from '../components/basics.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { Elapsed } from '../components/time.tsx';
import type { ResponseOf } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

type UndeliverableEmail = ResponseOf<'GET /v1/project'>['undeliverable_emails'][number];

export const REASONS: Record<UndeliverableEmail['reason'], string> = {
  bounced: 'an email bounced',
  complained: 'the recipient marked an email as spam',
};

/** An address that receives no emails, with a button that confirms it. */
export function Undeliverable({ of: { email, reason, at }, onConfirm }: { of: UndeliverableEmail; onConfirm(): void }) {
  const { call, announce } = useSession();
  const confirming = useSending(() => call('POST /v1/project/confirm-email', { body: { email } }));
  const confirm = async () => {
    if (!(await confirming.send())) return;
    announce(`A test email is on its way to ${email}.`);
    onConfirm();
  };
  return (
    <Callout kind="warning">
      <p>
        {email} receives no emails, because {REASONS[reason]} <Elapsed since={at} /> ago. Replace the address, or
        confirm that it works again.
      </p>
      <ProblemNote problem={confirming.problem} />
      <Button onClick={confirm} busy={confirming.busy} label={`Confirm ${email}`}>
        Confirm
      </Button>
    </Callout>
  );
}
