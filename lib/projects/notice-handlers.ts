import type { Request } from '../http/request.ts';
import { credentialOf } from '../http/scope.ts';
import type { Email } from './emails.ts';
import { type Notice, noticeEmail } from './notices.ts';
import type { ProjectRecord } from './project.ts';

export interface NoticeDeps {
  projects: { get(id: string): Promise<ProjectRecord | undefined> };
  sendEmail(email: Email): Promise<void>;
  /** Reports an email that was not sent to the operator. */
  reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void;
}

/**
 * Emails a project about a change. Call it before the change, so that a crash between the two repeats the email and never loses
 * it. A failed email does not stop the change, but is reported to the operator.
 */
export const notifying =
  ({ projects, sendEmail, reportFailure }: NoticeDeps) =>
  async ({ id, caller, address }: Request, at: number, notice: Notice): Promise<void> => {
    const { projectId } = caller;
    try {
      const project = await projects.get(projectId);
      if (!project) throw new Error('The project of this request is gone');
      await sendEmail(noticeEmail(project, notice, { keyId: credentialOf(caller), address, at }));
    } catch (error) {
      reportFailure('notice.not_sent', { request_id: id, project_id: projectId, notice: notice.subject }, error);
    }
  };
