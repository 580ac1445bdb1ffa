import { delimiter, join } from 'node:path';

const PATH = process.env.PATH?.split(delimiter).filter((each) => !each.endsWith(join('node_modules', '.bin')));

/** Environment variables with the Node.js of the reader, because npm puts the one of this repository first. CI has Node.js 20. */
export const READER_ENVIRONMENT = { ...process.env, PATH: PATH?.join(delimiter) };
