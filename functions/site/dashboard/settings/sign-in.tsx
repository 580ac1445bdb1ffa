import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, Form } from '../components/basics.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { Field } from '../components/field.tsx';
import { useSending } from '../state/hooks.ts';
import { checkKey } from '../state/session.ts';

const HINT =
  'An admin, live or test key. This browser keeps it until you sign out, close its tabs, or leave them idle for 30 minutes.';

export function SignIn({ notice, onSignIn }: { notice: string | undefined; onSignIn: (key: string) => void }) {
  const [key, setKey] = useState('');
  const { busy, problem, send } = useSending(() => checkKey(key.trim()));
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    document.title = 'Sign in · Dashboard';
    input.current?.focus();
  }, []);
  const submit = async () => {
    if (await send()) onSignIn(key.trim());
  };
  return (
    <main class="sign-in">
      <p class="brand">Document Sync Service</p>
      <h1>Sign in</h1>
      {notice && <Callout kind="info">{notice}</Callout>}
      <Form onSubmit={submit}>
        <Field label="API key" hint={HINT}>
          {(attributes) => (
            <input
              {...attributes}
              ref={input}
              type="password"
              value={key}
              placeholder="svc_admin_…"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <ProblemNote problem={problem} />
        <Button type="submit" kind="primary" busy={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </Form>
      <p class="muted">
        If you came here with a link, ask for a new one. A live or test key shows its environment, without keys and
        settings. The admin key was shown when the project was created. If you lost it, the operator can{' '}
        <a href="docs/operating#manage-projects">create another one</a>.
      </p>
    </main>
  );
}
