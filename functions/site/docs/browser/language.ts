const NAME = 'docs.language';

/** The language of code samples in the docs and the dashboard, such as `Python`. Empty until the user selects one. */
export function chosenLanguage(): string {
  try {
    return localStorage.getItem(NAME) ?? '';
  } catch {
    return ''; // a browser that blocks cookies throws
  }
}

/** Remembers a language. A browser that blocks cookies forgets it with the page. */
export function chooseLanguage(language: string): void {
  try {
    localStorage.setItem(NAME, language);
  } catch {}
}
