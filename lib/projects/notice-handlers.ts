import type { Backend } from '../aws/backend.ts';
import { ConflictError } from '../errors.ts';
import { credentialOf } from '../http/caller.ts';
import type { Request } from '../http/request.ts';
import type { ProjectEmails } from './email-store.ts';
import { type Notice, noticeEmail } from './notices.ts';
import { projects } from './store.ts';

/**
 * Makes a change and emails the project about it, unless the change returns `false`. The email is reserved before the change, so
 * that a summary reports the change even after a crash. A failed email does not stop the change, but is reported to the operator.
 */
export function notifying({ table, reportFailure }: Backend, emails: ProjectEmails) {
  return async <Result>(request: Request, at: number, notice: Notice | null, change: () => Promise<Result>) => {
    if (!notice) return change();
    const { projectId } = request.caller;
    const reporting = <T>(act: () => Promise<T>): Promise<T | undefined> =>
      act().catch((error: unknown) => {
        // Other requests reserve emails at this moment, so an email or a summary leads to the audit log, which has this change too.
        if (error instanceof ConflictError) return undefined;
        const fields = { request_id: request.id, project_id: projectId, notice: notice.subject };
        reportFailure('notice.not_sent', fields, error);
        return undefined;
      });
    const reserved = await reporting(async () => {
      const project = await projects(table).get(projectId);
      if (!project) throw new Error('The project of this request is gone');
      const id = await emails.reserve(project, null, at);
      return id === null ? undefined : { id, project };
    });
    const result = await change();
    if (!reserved) return result;
    const { id, project } = reserved;
    const source = { keyId: credentialOf(request.caller), address: request.address, baseUrl: request.baseUrl, at };
    await reporting(() =>
      result === false ? emails.confirm(projectId, id) : emails.send(id, noticeEmail(project, notice, source)),
    );
    return result;
  };
}
