const NAME = 'docs.language';

/** The language in which the docs and the dashboard show code, such as `Python`; empty until one is chosen. */
export const chosenLanguage = (): string => localStorage.getItem(NAME) ?? '';
export const chooseLanguage = (language: string): void => localStorage.setItem(NAME, language);
