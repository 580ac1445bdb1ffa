import { operationsOf } from '../http/operation.ts';
import { CreateDashboardLink, DashboardLink } from './dashboard-link.ts';
import { linkRoutes } from './routes.ts';

export const linkOperations = operationsOf(linkRoutes, {
  createDashboardLink: {
    summary: 'Create a link that opens the dashboard for a person. It is shown only once',
    body: CreateDashboardLink,
    responses: { 201: DashboardLink },
    idempotencyKey: true,
    secrets: ['url'],
  },
});
