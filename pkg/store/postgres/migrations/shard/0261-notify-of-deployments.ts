import type { Migration } from '../migration.ts';

/**
 * Deployments of a tenant that begin to wait, or that somebody decided on, are notified to the operator (as registrations are,
 * 0250).
 */
export const notifyOfDeployments: Migration<object> = {
  name: '0261-notify-of-deployments',
  up: () => `
      CREATE TRIGGER deployment_changes_notify AFTER INSERT OR UPDATE ON carrel.deployment_changes
        FOR EACH ROW EXECUTE FUNCTION carrel.notify_operator();
    `,
  down: () => 'DROP TRIGGER deployment_changes_notify ON carrel.deployment_changes;',
};
