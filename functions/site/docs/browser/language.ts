import { storageOf } from '../../dashboard/state/storage.ts';

const NAME = 'docs.language';
const items = storageOf('localStorage');

/** The language of code samples in the docs and the dashboard, such as `Python`. Empty until the user selects one. */
export const chosenLanguage = (): string => items.getItem(NAME) ?? '';

export const chooseLanguage = (language: string): void => items.setItem(NAME, language);
