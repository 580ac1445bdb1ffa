import * as v from 'valibot';
import { newApiKey } from '../lib/access/api-key.ts';
import { keyResource, newKeyRecord } from '../lib/access/keys.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { system } from '../lib/aws/system.ts';
import { sortableId } from '../lib/ids.ts';
import { check, iso, text } from '../lib/schema.ts';

const CreateProject = v.strictObject({
  name: text(1, 100),
  email: v.pipe(
    v.string('must be a string'),
    v.email('must be an email address'),
    v.maxLength(254, 'must have at most 254 characters'),
  ),
});

export interface CreateProjectDeps {
  projects: ReturnType<typeof projects>;
  clock: typeof system.clock;
  random: typeof system.random;
}

/** Invoked by whoever may in the AWS account; there is no HTTP operation. Throws an error that lists every violation. */
export function createHandler({ projects, clock, random }: CreateProjectDeps) {
  return async (input: unknown) => {
    const checked = check(CreateProject, input);
    if ('violations' in checked)
      throw new Error(checked.violations.map(({ field, detail }) => `${field} ${detail}`).join('; '));
    const now = clock();
    const secret = () => Buffer.from(random(32)).toString('base64url');
    const project = { id: sortableId('prj', now, random), ...checked.value, cursorSecret: secret(), createdAt: now };
    const key = newApiKey('admin', now, random);
    const record = newKeyRecord(key, {
      projectId: project.id,
      name: 'First admin key',
      tokenSecret: secret(),
      createdAt: now,
    });
    await projects.create(project, record);
    log.info('project.created', { project_id: project.id });
    const { id, name, email } = project;
    return {
      project: { id, name, email, created_at: iso(now) },
      admin_key: { ...keyResource(record, now), key: key.key },
    };
  };
}

export const handler = createHandler({ projects: projects(createTable(environment('TABLE_NAME'))), ...system });
