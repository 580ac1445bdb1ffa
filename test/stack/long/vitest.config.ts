import { fileURLToPath } from 'node:url';
import everyDay, { LONG } from '../../../vitest.config.ts';

/** `npm run test:long` */
export default {
  ...everyDay,
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: { ...everyDay.test, include: LONG, exclude: [] },
};
