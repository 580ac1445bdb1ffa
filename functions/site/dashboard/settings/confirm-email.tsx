import { useLayoutEffect, useState } from 'preact/hooks';
import { Button, Form } from '../components/basics.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { callWithoutKey } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';

/**
 * The page that a confirmation email links to, also for people without a key. Only the button confirms the address, because mail
 * gateways open links to scan them.
 */
export function ConfirmEmail({ token }: { token: string }) {
  const [email, setEmail] = useState<string>();
  const confirming = useSending(() => callWithoutKey('POST /v1/email-confirmations', { body: { token } }));
  useLayoutEffect(() => {
    document.title = 'Confirm your email address · Dashboard';
  }, []);
  const confirm = async () => setEmail((await confirming.send())?.email);
  return (
    <main class="sign-in">
      <p class="brand">Document Sync Service</p>
      <h1>Confirm your email address</h1>
      {email === undefined ? (
        <Form onSubmit={confirm}>
          <p>
            A project wants to notify you when a webhook fails, and when an admin key or an address changes. If you did
            not expect this, close this page.
          </p>
          <ProblemNote problem={confirming.problem} />
          <Button type="submit" kind="primary" busy={confirming.busy}>
            Confirm address
          </Button>
        </Form>
      ) : (
        <Callout kind="info">
          <output>{email} is confirmed. It now receives the notifications of the project.</output>
        </Callout>
      )}
    </main>
  );
}
