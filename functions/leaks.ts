import { secretScanningKeysUrl } from '../lib/aws/environment.ts';
import { publishedKeys } from '../lib/aws/published-keys.ts';
import { createReportServer } from '../lib/http/signed-report.ts';
import { aws, withEmail } from './platform.ts';
import { leakReports } from './wiring.ts';

const platform = { ...aws(), ...withEmail() };
const keysUrl = secretScanningKeysUrl();
export const handler = createReportServer({
  ...platform,
  ...(keysUrl !== undefined && { publicKey: publishedKeys(keysUrl, platform.clock) }),
  handle: leakReports(platform),
});
