import * as v from 'valibot';
import { sortableId } from '../ids.ts';
import { generateKey, type KeyRecord, keyResource } from '../keys/key.ts';
import { iso, requireValid } from '../schema.ts';
import { type AuditDeps, auditingOperator } from './audit-handlers.ts';
import type { Write } from './audit-store.ts';
import { EmailAddress, Emails, ProjectName, type ProjectRecord } from './project.ts';

const one = v.pipe(
  EmailAddress,
  v.transform((email) => [email]),
);

/** `email` is an address or a list of 1 to 5. */
const CreateProject = v.strictObject({
  name: ProjectName,
  email: v.lazy((input) => (Array.isArray(input) ? Emails : one)),
});

export interface CreateProjectDeps extends AuditDeps {
  projects: {
    create(project: ProjectRecord, firstKey: KeyRecord, also: readonly Write[]): Promise<void>;
  };
  clock(): number;
  log: { info(event: string, fields: Record<string, unknown>): void };
}

/**
 * Creates a project and its first admin key. There is no HTTP operation: only principals of the AWS account can invoke the function.
 * Throws an error that lists every violation.
 */
export function createProject(deps: CreateProjectDeps) {
  const { projects, clock, random, log } = deps;
  const audited = auditingOperator(deps);
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
    await projects.create(project, record, [audited(change)]);
    log.info('project.created', { project_id: project.id });
    return {
      project: { id: project.id, name, email, emails, created_at: iso(now) },
      admin_key: { ...keyResource(record, now), key },
    };
  };
}
