import { useState } from 'preact/hooks';
import { chooseLanguage, chosenLanguage } from '../../docs/browser/language.ts';
import { CopyButton } from '../components/copyable.tsx';
import { Select } from '../components/field.tsx';
import { Scroll } from '../components/scroll.tsx';

/** The code of the guide on receiving webhooks, which functions/site/build.ts inserts. */
declare const VERIFICATION: readonly (readonly [language: string, code: string])[];

/** Sample code that verifies signatures, in the language that the user selected in the docs or here. */
export function Verification() {
  const [chosen, setChosen] = useState(chosenLanguage);
  const [language, code] = VERIFICATION.find(([each]) => each === chosen) ?? VERIFICATION[0] ?? ['', ''];
  const choose = (next: string) => {
    chooseLanguage(next);
    setChosen(next);
  };
  return (
    <div class="verification">
      <p class="muted">
        Verify X-Service-Signature over the raw body, before it is parsed.{' '}
        <a href="docs/receiving#verify-with-a-library" target="_blank" rel="noreferrer">
          Or use a library, which also stops replays
        </a>
      </p>
      <div class="request">
        <Select
          label="Language"
          value={language}
          options={VERIFICATION.map(([each]) => [each, each] as const)}
          onChange={choose}
        />
        <CopyButton text={code}>Copy code</CopyButton>
      </div>
      <Scroll label={`Verification in ${language}`} class="code">
        {code.trimEnd()}
      </Scroll>
    </div>
  );
}
