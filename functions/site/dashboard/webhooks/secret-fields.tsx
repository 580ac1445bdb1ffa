import { Callout } from '../components/feedback.tsx';
import { Choice, Input } from '../components/field.tsx';
import type { Secret } from '../state/session.ts';
import { Verification } from './verification.tsx';

interface SecretProps {
  secret: string | undefined;
  onChange: (secret: string | undefined) => void;
}

/** A custom secret with fewer characters can be guessed. */
const SHORT_SECRET = 24;

/** The start of a secret that the libraries of Standard Webhooks decode correctly. */
const PREFIX = 'whsec_';

/** Chooses between a generated and a custom secret. */
export function SecretFields({ secret, onChange }: SecretProps) {
  return (
    <>
      <Choice
        legend="Signing secret"
        options={[
          ['generated', 'Generate one', '32 random bytes, shown once.'],
          ['own', 'Use my own', 'A secret that your endpoint already has.'],
        ]}
        value={secret === undefined ? 'generated' : 'own'}
        onInput={(chosen) => onChange(chosen === 'own' ? '' : undefined)}
      />
      {secret !== undefined && (
        <>
          <Input label="Secret" name="secret" value={secret} onInput={onChange} />
          {secret.length > 0 && secret.length < SHORT_SECRET && (
            <Callout kind="warning">
              A secret with fewer than {SHORT_SECRET} characters can be guessed. Anyone who knows it can forge events.
            </Callout>
          )}
          {secret.slice(0, PREFIX.length) !== PREFIX.slice(0, secret.length) && (
            <Callout kind="info">
              Libraries of Standard Webhooks need a secret that starts with <code>{PREFIX}</code>. Verify this one by
              hand.
            </Callout>
          )}
        </>
      )}
    </>
  );
}

/** A generated secret with its purpose. */
export const signingSecret = (title: string, text: string | null): Secret => ({
  title,
  text,
  label: 'secret',
  ifLost: 'Rotate the secret of the webhook to get a new one.',
  children: <Verification />,
});
