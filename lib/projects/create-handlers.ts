import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { sortableId } from '../ids.ts';
import { generateKey, keyResource } from '../keys/key.ts';
import { iso, requireValid } from '../schema.ts';
import { auditEntry } from './audit-store.ts';
import { EmailAddress, Emails, ProjectName } from './project.ts';
import { projects } from './store.ts';

const one = v.pipe(
  EmailAddress,
  v.transform((email) => [email]),
);

/** `email` is an address or a list of 1 to 5. */
const CreateProject = v.strictObject({
  name: ProjectName,
  email: v.lazy((input) => (Array.isArray(input) ? Emails : one)),
});

/**
 * Creates a project and its first admin key. There is no HTTP operation: only principals of the AWS account can invoke the function.
 * Throws an error that lists every violation.
 */
export function createProject({ table, clock, random, log }: Backend) {
  return async (input: unknown) => {
    const { name, email: emails } = requireValid(CreateProject, input);
    const [email] = emails as [string, ...string[]];
    const now = clock();
    const project = {
      id: sortableId('prj', now, random),
      name,
      emails,
      cursorSecret: Buffer.from(random(32)).toString('base64url'),
      createdAt: now,
    };
    const first = { projectId: project.id, type: 'admin', name: 'First admin key' } as const;
    const { key, record } = generateKey(first, now, random);
    const detail = { name: project.name, key: record.id };
    const change = { projectId: project.id, at: now, action: 'project.created', target: project.id, detail } as const;
    await projects(table).create(project, record, [auditEntry(change, random)]);
    log.info('project.created', { project_id: project.id });
    return {
      project: { id: project.id, name, email, emails, created_at: iso(now) },
      admin_key: { ...keyResource(record, now), key },
    };
  };
}
