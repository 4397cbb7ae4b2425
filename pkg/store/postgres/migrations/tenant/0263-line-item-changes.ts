import type { TenantMigration } from './migration.ts';

/**
 * Changes of line items that an LMS is being asked for. Each goes with its entry in the audit log when the LMS has answered; what
 * is left has an entry that says that the outcome is unknown (pkg/lti/line-items).
 */
export const lineItemChanges: TenantMigration = {
  name: '0263-line-item-changes',
  loses: 'Of changes of line items whose outcome was not recorded yet, that they were asked for.',
  up: () => `
      CREATE TABLE lti_line_item_changes (
        id uuid PRIMARY KEY,
        what varchar(10) NOT NULL CHECK (what IN ('create', 'update', 'delete')),
        line_item uuid,
        label text,
        before jsonb NOT NULL,
        after jsonb NOT NULL,
        origin jsonb,
        asked_at timestamptz(3) NOT NULL DEFAULT now()
      );
    `,
  down: () => 'DROP TABLE lti_line_item_changes;',
};
