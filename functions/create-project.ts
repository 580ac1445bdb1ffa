import * as v from 'valibot';
import { newApiKey } from '../lib/access/api-key.ts';
import { keyResource, newKeyRecord } from '../lib/access/keys.ts';
import { EmailAddress, ProjectName } from '../lib/access/projects.ts';
import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { sortableId } from '../lib/ids.ts';
import { check, iso } from '../lib/schema.ts';

const CreateProject = v.strictObject({ name: ProjectName, email: EmailAddress });

export interface CreateProjectDeps {
  projects: Pick<ReturnType<typeof projects>, 'create'>;
  audit: Pick<ReturnType<typeof auditLog>, 'entry'>;
  clock: typeof system.clock;
  random: typeof system.random;
}

/** Invoked by whoever may in the AWS account; there is no HTTP operation. Throws an error that lists every violation. */
export function createHandler({ projects, audit, clock, random }: CreateProjectDeps) {
  return async (input: unknown) => {
    const checked = check(CreateProject, input);
    if ('violations' in checked)
      throw new Error(checked.violations.map(({ field, detail }) => `${field} ${detail}`).join('; '));
    const { name, email } = checked.value;
    const now = clock();
    const secret = () => Buffer.from(random(32)).toString('base64url');
    const project = {
      id: sortableId('prj', now, random),
      name,
      emails: [email],
      cursorSecret: secret(),
      createdAt: now,
    };
    const key = newApiKey('admin', now, random);
    const record = newKeyRecord(key, {
      projectId: project.id,
      name: 'First admin key',
      tokenSecret: secret(),
      createdAt: now,
    });
    const entry = audit.entry({
      id: sortableId('aud', now, random),
      projectId: project.id,
      at: now,
      actor: null,
      address: null,
      action: 'project.created',
      target: project.id,
      detail: { name: project.name, key: record.id },
    });
    await projects.create(project, record, [entry]);
    log.info('project.created', { project_id: project.id });
    return {
      project: { id: project.id, name, email, created_at: iso(now) },
      admin_key: { ...keyResource(record, now), key: key.key },
    };
  };
}

const table = createTable(environment('TABLE_NAME'));
export const handler = createHandler({ projects: projects(table), audit: auditLog(table), ...system });
