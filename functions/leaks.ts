import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { apiKeys } from '../lib/aws/dynamodb/keys.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { email } from '../lib/aws/email.ts';
import { environment, secretScanningKeysUrl } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { publishedKeys } from '../lib/aws/published-keys.ts';
import { system } from '../lib/aws/system.ts';
import { leakHandler } from '../lib/handlers/leaks.ts';
import { createReportServer } from '../lib/http/signed-report.ts';

const table = createTable(environment('TABLE_NAME'));
const keysUrl = secretScanningKeysUrl();

export const handler = createReportServer({
  ...(keysUrl !== undefined && { publicKey: publishedKeys(keysUrl, system.clock) }),
  handle: leakHandler({
    keys: apiKeys(table),
    projects: projects(table),
    audit: auditLog(table),
    sendEmail: email(environment('SENDER_EMAIL')).send,
    ...system,
  }),
  log,
  reportFailure,
});
