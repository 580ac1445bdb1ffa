import { type ProjectChange, type ProjectRecord, projectResource } from '../access/projects.ts';
import { type Email, emailOf } from '../email.ts';
import type { Handlers } from '../http/serve.ts';
import type { TransactionPart } from '../transaction.ts';
import { type AuditDeps, auditing } from './audit.ts';

/** Projects as they are stored. */
export interface Projects {
  /** Strongly consistent. */
  get(id: string): Promise<ProjectRecord | undefined>;
  /** Sets these members. Throws if there is no such project. */
  change(id: string, change: Partial<ProjectRecord>, also: readonly TransactionPart[]): Promise<void>;
}

export interface ProjectDeps extends AuditDeps {
  projects: Projects;
  sendEmail(email: Email): Promise<void>;
  clock(): number;
}

type ProjectHandlers = Pick<Handlers<'project'>, 'getProject' | 'changeProject' | 'sendTestEmail'>;

export function projectHandlers(deps: ProjectDeps): ProjectHandlers {
  const { projects, sendEmail, clock } = deps;
  const audited = auditing(deps);

  return {
    getProject: async ({ space }) => ({ body: projectResource(await own(space.projectId)) }),

    async changeProject(request) {
      const { projectId } = request.space;
      const change = changeOf(request.body);
      if (Object.keys(change).length > 0) {
        const entry = { at: clock(), action: 'project.changed', target: projectId, detail: request.body } as const;
        await projects.change(projectId, change, [audited(request, entry)]);
      }
      return { body: projectResource(await own(projectId)) };
    },

    async sendTestEmail({ space }) {
      const { name, emails } = await own(space.projectId);
      await sendEmail(
        emailOf(emails, `Test email: ${name}`, [
          `This is where notifications of the project "${name}" go. Somebody asked for it with an admin key.`,
          'You need not do anything.',
        ]),
      );
      return { body: { emails } };
    },
  };

  async function own(id: string): Promise<ProjectRecord> {
    const project = await projects.get(id);
    if (!project) throw new Error('The project of this request is gone');
    return project;
  }
}

/** Only what was asked for. */
function changeOf({ name, emails, on_leak: onLeak }: ProjectChange): Partial<ProjectRecord> {
  const members = Object.entries({ name, emails, onLeak }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members);
}
