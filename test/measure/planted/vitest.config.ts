import base from '../../../vitest.config.ts';

/** For tests that need neither the local stack nor a database. */
export default { test: { ...base.test, globalSetup: [], setupFiles: [] } };
