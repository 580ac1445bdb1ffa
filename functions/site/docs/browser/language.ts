const NAME = 'docs.language';

/** The language of code samples in the docs and the dashboard, such as `Python`. Empty until the user selects one. */
export const chosenLanguage = (): string => localStorage.getItem(NAME) ?? '';
export const chooseLanguage = (language: string): void => localStorage.setItem(NAME, language);
