// The browser imports this file too, so it must stay small.

import { ADMIN, type Routes } from '../http/route.ts';

const project = { function: 'project', callers: ADMIN, permissions: [] } as const;

export const projectRoutes = {
  getProject: { ...project, method: 'GET', path: '/v1/project' },
  changeProject: { ...project, method: 'PATCH', path: '/v1/project' },
  sendTestEmail: { ...project, method: 'POST', path: '/v1/project/test-mail' },
  confirmEmail: { ...project, method: 'POST', path: '/v1/project/confirm-email' },
  sendConfirmation: { ...project, method: 'POST', path: '/v1/project/send-confirmation' },
  confirmAddress: {
    function: 'project',
    callers: 'anyone',
    permissions: [],
    method: 'POST',
    path: '/v1/email-confirmations',
  },
  listAudit: { ...project, method: 'GET', path: '/v1/audit' },
} as const satisfies Routes;
