import * as v from 'valibot';
import { newApiKey } from '../access/api-key.ts';
import { type KeyRecord, keyResource, newKeyRecord } from '../access/keys.ts';
import { EmailAddress, ProjectName, type ProjectRecord } from '../access/projects.ts';
import { type Random, sortableId } from '../ids.ts';
import { check, iso } from '../schema.ts';
import type { TransactionPart } from '../transaction.ts';
import type { AuditLog } from './audit.ts';

const CreateProject = v.strictObject({ name: ProjectName, email: EmailAddress });

export interface CreateProjectDeps {
  projects: {
    create(project: ProjectRecord, firstKey: KeyRecord, also: readonly TransactionPart[]): Promise<void>;
  };
  audit: Pick<AuditLog, 'entry'>;
  clock(): number;
  random: Random;
  log: { info(event: string, fields: Record<string, unknown>): void };
}

/**
 * Creates a project and its first admin key. There is no HTTP operation: only principals of the AWS account can invoke the function.
 * Throws an error that lists every violation.
 */
export function createProject({ projects, audit, clock, random, log }: CreateProjectDeps) {
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
