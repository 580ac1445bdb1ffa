import { ShownOnce } from '../components/dialog.tsx';
import { Callout } from '../components/feedback.tsx';
import { Choices, Input } from '../components/field.tsx';
import { Verification } from './verification.tsx';

interface SecretProps {
  secret: string | undefined;
  onChange: (secret: string | undefined) => void;
  error: string | undefined;
}

/** A custom secret with fewer characters can be guessed. */
const SHORT_SECRET = 24;

/** Chooses between a generated and a custom secret. */
export function SecretFields({ secret, onChange, error }: SecretProps) {
  return (
    <>
      <Choices
        legend="Signing secret"
        type="radio"
        options={[
          ['generated', 'Generate one', '32 random bytes, shown once.'],
          ['own', 'Use my own', 'A secret that your endpoint already has.'],
        ]}
        chosen={[secret === undefined ? 'generated' : 'own']}
        onChange={([chosen]) => onChange(chosen === 'own' ? '' : undefined)}
      />
      {secret !== undefined && (
        <>
          <Input label="Secret" value={secret} onInput={onChange} error={error} />
          {secret.length > 0 && secret.length < SHORT_SECRET && (
            <Callout kind="warning">
              A secret with fewer than {SHORT_SECRET} characters can be guessed. Anyone who knows it can forge events.
            </Callout>
          )}
        </>
      )}
    </>
  );
}

/** Shows a generated secret and its purpose. */
export function SecretShown({ title, secret, onClose }: { title: string; secret: string | null; onClose: () => void }) {
  return (
    <ShownOnce
      title={title}
      text={secret}
      label="secret"
      ifLost="Rotate the secret of the webhook to get a new one."
      onClose={onClose}
    >
      <Verification />
    </ShownOnce>
  );
}
