import type { Migration } from '../migration.ts';

/**
 * Due rows of a tenant in their order, for whoever looks for tenants. Its predicate means the same rows as that of the index of
 * each webhook's (0033) in other words: with the same words, the planner took this one for a webhook's rows too, once the other
 * had grown by a level, and read and sorted the backlog of the whole tenant for each of its webhooks.
 */
export const dueTenants: Migration<object> = {
  name: '0037-due-tenants',
  up: () => `
      CREATE INDEX IF NOT EXISTS deliveries_due_of_tenant_idx ON carrel.deliveries (tenant, due_at, id) WHERE state = 'pending';
      DROP INDEX carrel.deliveries_due_idx;
    `,
  down: () => `
      CREATE INDEX deliveries_due_idx ON carrel.deliveries (tenant, due_at, id) WHERE due_at IS NOT NULL;
      DROP INDEX carrel.deliveries_due_of_tenant_idx;
    `,
};
