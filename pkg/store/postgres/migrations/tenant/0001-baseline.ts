import type { TenantMigration } from './migration.ts';
import { auditLog } from './0001-baseline/audit.ts';
import { content } from './0001-baseline/content.ts';
import { courses } from './0001-baseline/courses.ts';
import { groups } from './0001-baseline/groups.ts';
import { lti } from './0001-baseline/lti.ts';
import { people } from './0001-baseline/people.ts';
import { storage } from './0001-baseline/storage.ts';
import { tasks } from './0001-baseline/tasks.ts';
import { webhooks } from './0001-baseline/webhooks.ts';

/**
 * A tenant's schema. Its triggers call the functions of the shard (pkg/store/postgres/functions), which write the audit log among
 * other things: `audit_insert`, `audit_update` and `audit_delete` say which changes have an entry. The trigger `touch` makes a
 * new revision.
 */
export const baseline: TenantMigration = {
  name: '0001-baseline',
  loses: 'All that the tenant has; objects of its files stay in the bucket.',
  up: (tenant) =>
    [people(tenant), lti, groups, content(tenant), storage, tasks, courses, webhooks(tenant), auditLog(tenant)].join('\n'),
  down: () => `
      DROP TABLE audit_entries, helpers, idempotency_keys, webhooks, lti_line_item_changes, lti_hand_ins,
        lti_notice_handlers, lti_notices,
        lti_course_copies, lti_resource_links, lti_link_keys, lti_roster_entries, lti_members, lti_line_items, task_items,
        task_requesters, tasks, schedule_ticks, schedules, export_uploads, exports, partial_upload_segments, partial_uploads,
        storage_reservations, image_links, file_metadata, file_tags, tags, shares, permissions, file_versions, files, folders,
        group_members, groups, lti_registration_links, lti_grades, lti_launches, lti_identities, lti_deployment_requests,
        lti_deployments, lti_tool_keys, lti_tools, lti_platforms, password_resets, refresh_tokens, sessions, users;
    `,
};
