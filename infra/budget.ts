import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** Percentages of the budget: of the cost so far, and of the forecast for the month. */
const NOTIFICATIONS = [
  ['ACTUAL', 80],
  ['FORECASTED', 100],
] as const;

/**
 * Adds a budget in US dollars for the whole account, because costs by tag need an activation in the management account (AWS Cost
 * Management User Guide, "Activating user-defined cost allocation tags"). A budget stops nothing.
 */
export function addBudget(scope: Construct, { monthlyBudget, alarmEmail }: Settings): void {
  if (monthlyBudget === 0) return;
  new CfnBudget(scope, 'Budget', {
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: monthlyBudget, unit: 'USD' } },
    notificationsWithSubscribers: NOTIFICATIONS.map(([notificationType, threshold]) => ({
      notification: { notificationType, threshold, comparisonOperator: 'GREATER_THAN' },
      subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
    })),
  });
}
