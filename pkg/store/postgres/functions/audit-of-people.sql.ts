import { auditFunctions, resource, shown } from './audit-entries.ts';

const SCHEDULE = Object.fromEntries(
  ['name', 'kind', 'arguments', 'cron', 'time_zone', 'active', 'catch_up', 'managed_by'].map((column) => [column, `$.${column}`]),
);

const SETTINGS = Object.fromEntries(
  ['enabled', 'password_required', 'max_days', 'folder_uploads', 'managed_by'].map((field) => [
    `share_links.${field}`,
    `$.share_links_${field}`,
  ]),
);

/** People, their sessions and groups, and what is set up or run for them. */
export const auditOfPeople = auditFunctions({
  users: resource('user', {
    name: 'coalesce($.display_name, $.username)',
    fields: {
      email: '$.email',
      username: '$.username',
      display_name: '$.display_name',
      roles: '$.roles',
      storage_quota: '$.storage_quota',
      is_active: '$.is_active',
    },
    secrets: { password: 'password_hash' },
  }),
  password_resets: {
    body: `PERFORM write_audit('user.password_reset', 'user', u.uuid, coalesce(u.display_name, u.username),
          audit_changes('{}', jsonb_build_object('expires_at', NEW.expires_at))) FROM users u WHERE u.id = NEW.user_id;`,
  },
  // A statement that opens sessions of several launches sets carrel.origins, which maps each session to its request.
  sessions: {
    body: `
      PERFORM write_audit(CASE TG_OP WHEN 'INSERT' THEN 'session.create' ELSE 'session.end' END, 'session', NEW.id,
        NEW.user_agent,
      CASE WHEN TG_OP = 'INSERT' THEN audit_changes('{}', jsonb_build_object('launch_id', NEW.launch_id)) ELSE '{}' END,
      CASE WHEN TG_OP = 'INSERT' THEN jsonb_build_object('user', NEW.user_id, 'ip', NEW.ip, 'request', coalesce(
        nullif(current_setting('carrel.origins', true), '')::jsonb -> NEW.id::text ->> 'request',
        nullif(current_setting('carrel.origin', true), '')::jsonb ->> 'request')) END);`,
  },
  groups: resource('group', { name: '$.name', fields: { name: '$.name', description: '$.description' } }),
  webhooks: resource('webhook', {
    name: '$.url',
    fields: { url: '$.url', events: '$.events', active: '$.active', description: '$.description' },
    secrets: { secret: 'secret', headers: 'headers' },
  }),
  group_members: {
    body: `IF TG_OP = 'INSERT' THEN
          PERFORM write_audit('group.add_member', 'group', g.uuid, g.name,
            audit_changes('{}', jsonb_build_object('user_id', u.uuid)))
          FROM groups g, users u WHERE g.id = NEW.group_id AND u.id = NEW.user_id;
        ELSE
          PERFORM write_audit('group.remove_member', 'group', g.uuid, g.name,
            audit_changes(jsonb_build_object('user_id', u.uuid), '{"user_id": null}'))
          FROM groups g, users u WHERE g.id = OLD.group_id AND u.id = OLD.user_id;
        END IF;`,
  },
  tasks: {
    body: `PERFORM write_audit(CASE TG_OP WHEN 'INSERT' THEN 'job.run' ELSE 'job.cancel' END, 'job', NEW.uuid, NEW.kind, '{}');`,
  },
  schedules: resource('schedule', { name: '$.name', fields: SCHEDULE }),
  settings: {
    body: `
      PERFORM write_audit('settings.update', 'settings', NULL, NULL,
        audit_changes(${shown('OLD', SETTINGS)}, ${shown('NEW', SETTINGS)}));`,
  },
});
