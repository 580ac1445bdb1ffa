import { useState } from 'preact/hooks';
import { chooseLanguage, chosenLanguage } from '../../docs/browser/language.ts';
import { CopyButton } from '../components/copyable.tsx';
import { Select } from '../components/field.tsx';
import { Scroll } from '../components/scroll.tsx';

/** The code of the guide on receiving webhooks, which functions/site/build.ts inserts. */
declare const VERIFICATION: readonly (readonly [language: string, withLibrary: string, byHand: string])[];

/**
 * Sample code that verifies signatures, in the language that the user selected in the docs or here. A library comes first, because it
 * also rejects replays.
 */
export function Verification() {
  const [chosen, setChosen] = useState(chosenLanguage);
  const [language, withLibrary, byHand] = VERIFICATION.find(([each]) => each === chosen) ??
    VERIFICATION[0] ?? ['', '', ''];
  const choose = (next: string) => {
    chooseLanguage(next);
    setChosen(next);
  };
  return (
    <div class="verification">
      <p class="muted">
        Verify each request with a{' '}
        <a href="docs/receiving#verify-with-a-library" target="_blank" rel="noreferrer">
          Standard Webhooks library
        </a>
        , which also rejects replays. It needs the raw body, and a secret that starts with whsec_.
      </p>
      <div class="request">
        <Select
          label="Language"
          value={language}
          options={VERIFICATION.map(([each]) => [each, each] as const)}
          onChange={choose}
        />
        <CopyButton text={withLibrary}>Copy code</CopyButton>
      </div>
      <Scroll label={`Verification in ${language}`} class="code">
        {withLibrary.trimEnd()}
      </Scroll>
      <details>
        <summary>Verify by hand, without protection from replays</summary>
        <div class="request">
          <p class="muted">Verify X-Service-Signature over the raw body, before it is parsed.</p>
          <CopyButton text={byHand} label="Copy code without a library">
            Copy code
          </CopyButton>
        </div>
        <Scroll label={`Verification by hand in ${language}`} class="code">
          {byHand.trimEnd()}
        </Scroll>
      </details>
    </div>
  );
}
