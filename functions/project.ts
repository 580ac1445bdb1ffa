import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { cursors } from '../lib/aws/dynamodb/cursors.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { email } from '../lib/aws/email.ts';
import { environment } from '../lib/aws/environment.ts';
import { reportFailure } from '../lib/aws/failures.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { auditHandlers } from '../lib/handlers/audit.ts';
import { projectHandlers } from '../lib/handlers/project.ts';
import { serve } from '../lib/http/serve.ts';

const table = createTable(environment('TABLE_NAME'));
const deps = {
  audit: auditLog(table),
  projects: projects(table),
  cursors: cursors(table, system.random),
  sendEmail: email(environment('SENDER_EMAIL')).send,
  reportFailure,
  ...system,
};

export const handler = serve<'project'>(
  { ...projectHandlers(deps), ...auditHandlers(deps) },
  {
    idempotency: idempotencyRecords(table, system),
    log,
    reportFailure,
  },
);
