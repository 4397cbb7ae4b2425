import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { QueryTime, Timestamp, Uuid } from '../api/schemas.ts';

/**
 * The actions of audit entries. The functions of pkg/store/postgres/functions and LineItems show which change writes which one.
 */
const AUDIT_ACTIONS = [
  'file.upload',
  'file.update',
  'file.delete',
  'file.restore',
  'file.purge',
  'version.delete',
  'folder.create',
  'folder.update',
  'folder.delete',
  'folder.restore',
  'folder.purge',
  'grant.create',
  'grant.update',
  'grant.delete',
  'share.create',
  'share.update',
  'share.delete',
  'share.download',
  'user.create',
  'user.update',
  'user.delete',
  'user.password_reset',
  'session.create',
  'session.end',
  'session.fail',
  'group.create',
  'group.update',
  'group.delete',
  'group.add_member',
  'group.remove_member',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'schedule.create',
  'schedule.update',
  'schedule.delete',
  'settings.update',
  'job.run',
  'job.cancel',
  'job.retry',
  'registration.create',
  'registration.update',
  'registration.delete',
  'deployment.admit',
  'deployment.refuse',
  'registration_link.create',
  'registration_link.use',
  'line_item.create',
  'line_item.update',
  'line_item.delete',
  'course.adopt',
  'grade.create',
  'grade.update',
] as const;

const AUDIT_TARGETS = [
  'file',
  'folder',
  'grant',
  'share',
  'user',
  'session',
  'group',
  'webhook',
  'schedule',
  'settings',
  'job',
  'registration',
  'registration_link',
  'line_item',
  'grade',
] as const;

const Action = z.enum(AUDIT_ACTIONS).meta({ id: 'AuditAction', example: 'file.upload' });
const TargetType = z.enum(AUDIT_TARGETS);
const Value = z.unknown();

export const AuditEntry = z
  .object({
    id: Uuid,
    at: Timestamp,
    actor: z
      .union([
        z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
        z.object({
          system: z
            .literal(true)
            .describe('Carrel itself made the change: a schedule, an expiry, a cluster resource or a launch'),
        }),
      ])
      .nullable()
      .describe('null: the caller was not signed in, or the user was deleted'),
    action: Action,
    target: z.object({
      type: TargetType,
      id: Uuid.nullable().describe(
        'null: the settings, which are one; an LMS registration, which has no id of this form; an account that does not exist; ' +
          'or a course without a launch',
      ),
      name: z.string().nullable().meta({ description: 'its name at that time', example: 'thesis.pdf' }),
    }),
    ip: z.string().nullable().meta({ example: '192.0.2.7' }),
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'X-Request-Id of the request', example: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' }),
    changes: z.record(z.string(), z.object({ from: Value, to: Value })).meta({
      description: 'fields with their old and new values; both are null for a secret',
      example: { name: { from: 'a.pdf', to: 'thesis.pdf' } },
    }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.output<typeof AuditEntry>;

export const AuditPage = pageOf(AuditEntry).meta({ id: 'AuditPage' });
export const AUDIT_SORT_FIELDS = ['at'] as const;

export const AuditQuery = z.object({
  ...pageQueryOf(AUDIT_SORT_FIELDS),
  actor: Uuid.optional().describe('what this user did'),
  action: Action.optional(),
  target_type: TargetType.optional(),
  target_id: Uuid.optional(),
  resource: Uuid.optional().describe(
    'what concerns this file or folder: its own entries, and those of its grants and share links',
  ),
  after: QueryTime.optional().describe('later than this'),
  before: QueryTime.optional().describe('earlier than this'),
});
export type AuditQuery = z.output<typeof AuditQuery>;
