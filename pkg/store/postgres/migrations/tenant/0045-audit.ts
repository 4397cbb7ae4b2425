import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

/** Kept so long (docs/design/events-and-jobs.md, Retention). */
const KEPT = '365 days';

/** Functions run as their owner, so the tenant's role needs no right on the table. */
const AS_OWNER = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT';

/** What the function of a table's triggers does. */
export interface AuditFunction {
  readonly declared?: string;
  readonly body: string;
}

/** An AFTER trigger of each row: `body` ends with RETURN NULL by itself. */
const triggerFunction = (table: string, { declared = '', body }: AuditFunction): string => `
  CREATE FUNCTION audit_${table}() RETURNS trigger ${AS_OWNER} AS $$
  ${declared === '' ? '' : `DECLARE ${declared}`}
  BEGIN
    ${body}
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION audit_${table} FROM PUBLIC;`;

/** `when`: of an UPDATE, what is worth an entry; left out: no UPDATE is. */
const triggers = (
  table: string,
  { when, onDelete = true, onInsert = true }: { when?: string; onDelete?: boolean; onInsert?: boolean } = {},
): string =>
  [
    ...(onInsert ? [`CREATE TRIGGER audit_insert AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION audit_${table}();`] : []),
    ...(when === undefined
      ? []
      : [`CREATE TRIGGER audit_update AFTER UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION audit_${table}();`]),
    ...(onDelete ? [`CREATE TRIGGER audit_delete AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION audit_${table}();`] : []),
  ].join('\n');

/** Whether one of these columns changes. */
const changed = (...columns: readonly string[]): string =>
  `(${columns.map((column) => `OLD.${column}`).join(', ')}) IS DISTINCT FROM (${columns.map((column) => `NEW.${column}`).join(', ')})`;

/** The fields of `row` that an entry shows, as JSON; `row` is null where there is none. */
const shown = (row: 'OLD' | 'NEW', fields: Readonly<Record<string, string>>): string =>
  `jsonb_build_object(${Object.entries(fields)
    .map(([name, column]) => `'${name}', ${column.replaceAll('$', row)}`)
    .join(', ')})`;

const uuidOf = (table: string, column: string): string => `(SELECT t.uuid FROM ${table} t WHERE t.id = $.${column})`;

/** A value that nobody is shown has changed. */
const secret = (name: string, when: string): string =>
  `CASE WHEN ${when} THEN '{"${name}": {"from": null, "to": null}}'::jsonb ELSE '{}' END`;

/** Creation, change and deletion of rows that have a uuid. */
const resource = (
  type: string,
  {
    name,
    fields,
    secrets = {},
    action = `'${type}.update'`,
    showsDeleted = false,
  }: {
    readonly name: string;
    readonly fields: Readonly<Record<string, string>>;
    /** Columns by the names that entries have for them. */
    readonly secrets?: Readonly<Record<string, string>>;
    /** Of an UPDATE, an expression. Left out: `<type>.update`. */
    readonly action?: string;
    /** Whether a deletion shows what the fields were. */
    readonly showsDeleted?: boolean;
  },
): AuditFunction => {
  const write = (row: 'OLD' | 'NEW', what: string, changes: string): string =>
    `PERFORM write_audit(${what}, '${type}', ${row}.uuid, ${name.replaceAll('$', row)}, ${changes});`;
  const hidden = (when: (column: string) => string): string =>
    Object.entries(secrets)
      .map(([field, column]) => ` || ${secret(field, when(column))}`)
      .join('');
  const inserted = `audit_changes('{}', ${shown('NEW', fields)})${hidden((column) => `NEW.${column} IS NOT NULL`)}`;
  const updated = `audit_changes(${shown('OLD', fields)}, ${shown('NEW', fields)})${hidden((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`)}`;
  const nothing = `jsonb_build_object(${Object.keys(fields)
    .map((field) => `'${field}', NULL`)
    .join(', ')})`;
  const deleted = showsDeleted ? `audit_changes(${shown('OLD', fields)}, ${nothing})` : `'{}'`;
  return {
    body: `CASE TG_OP
      WHEN 'INSERT' THEN ${write('NEW', `'${type}.create'`, inserted)}
      WHEN 'UPDATE' THEN ${write('NEW', action, updated)}
      ELSE ${write('OLD', `'${type}.delete'`, deleted)}
    END CASE;`,
  };
};

/** A trash's resource: `content` is true where an UPDATE gives it new content. */
const trashable = (type: string, content: string): string => `
  CASE
    WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL THEN '${type}.delete'
    WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL THEN '${type}.restore'
    WHEN ${content} THEN '${type}.upload'
    ELSE '${type}.update'
  END`;

const GRANTED = {
  resource_type: '$.resource_type',
  resource_id: `CASE $.resource_type WHEN 'file' THEN ${uuidOf('files', 'resource_id')} ELSE ${uuidOf('folders', 'resource_id')} END`,
  permission_level: '$.permission_level',
  user_id: uuidOf('users', 'user_id'),
  group_id: uuidOf('groups', 'group_id'),
  expires_at: '$.expires_at',
};

/** By table. */
export const AUDIT_FUNCTIONS = {
  files: {
    declared: 'what text;',
    body: `CASE TG_OP
          WHEN 'INSERT' THEN
            PERFORM write_audit('file.upload', 'file', NEW.uuid, NEW.name,
              audit_changes('{}', ${shown('NEW', { path: '$.path', size: '$.size', version: '$.version_number' })}),
              nullif(current_setting('carrel.origins', true), '')::jsonb -> NEW.uuid::text);
          WHEN 'UPDATE' THEN
            what := ${trashable('file', 'OLD.version_number <> NEW.version_number')};
            PERFORM write_audit(what, 'file', NEW.uuid, NEW.name, CASE WHEN what = 'file.delete' THEN '{}' ELSE audit_changes(
              ${shown('OLD', { name: '$.name', path: '$.path', size: '$.size', version: '$.version_number', mime_type: '$.mime_type' })},
              ${shown('NEW', { name: '$.name', path: '$.path', size: '$.size', version: '$.version_number', mime_type: '$.mime_type' })}) END
              || CASE WHEN OLD.owner_id = NEW.owner_id THEN '{}' ELSE audit_changes(
                ${shown('OLD', { owner_id: uuidOf('users', 'owner_id') })}, ${shown('NEW', { owner_id: uuidOf('users', 'owner_id') })}) END);
          ELSE
            PERFORM write_audit('file.purge', 'file', OLD.uuid, OLD.name, '{}');
        END CASE;`,
  },
  folders: {
    declared: 'what text;',
    body: `CASE TG_OP
          WHEN 'INSERT' THEN
            PERFORM write_audit('folder.create', 'folder', NEW.uuid, NEW.name, audit_changes('{}', ${shown('NEW', { path: '$.path' })}));
          WHEN 'UPDATE' THEN
            what := ${trashable('folder', 'false')};
            PERFORM write_audit(what, 'folder', NEW.uuid, NEW.name, CASE WHEN what = 'folder.delete' THEN '{}' ELSE audit_changes(
              ${shown('OLD', { name: '$.name', path: '$.path' })}, ${shown('NEW', { name: '$.name', path: '$.path' })}) END
              || CASE WHEN OLD.owner_id = NEW.owner_id THEN '{}' ELSE audit_changes(
                ${shown('OLD', { owner_id: uuidOf('users', 'owner_id') })}, ${shown('NEW', { owner_id: uuidOf('users', 'owner_id') })}) END);
          ELSE
            PERFORM write_audit('folder.purge', 'folder', OLD.uuid, OLD.name, '{}');
        END CASE;`,
  },
  file_versions: {
    // Of a file that goes for ever they go with it.
    body: `IF EXISTS (SELECT FROM files f WHERE f.id = OLD.file_id) THEN
          PERFORM write_audit('version.delete', 'file', f.uuid, f.name, audit_changes('{}', jsonb_build_object('version', OLD.version_number)))
          FROM files f WHERE f.id = OLD.file_id;
        END IF;`,
  },
  password_resets: {
    body: `PERFORM write_audit('user.password_reset', 'user', u.uuid, coalesce(u.display_name, u.username),
          audit_changes('{}', jsonb_build_object('expires_at', NEW.expires_at))) FROM users u WHERE u.id = NEW.user_id;`,
  },
  sessions: {
    body: `PERFORM write_audit(CASE TG_OP WHEN 'INSERT' THEN 'session.create' ELSE 'session.end' END, 'session', NEW.id, NEW.user_agent,
          CASE WHEN TG_OP = 'INSERT' THEN audit_changes('{}', jsonb_build_object('launch_id', NEW.launch_id)) ELSE '{}' END,
          CASE WHEN TG_OP = 'INSERT' THEN
            jsonb_build_object('user', NEW.user_id, 'ip', NEW.ip, 'request', nullif(current_setting('carrel.origin', true), '')::jsonb ->> 'request') END);`,
  },
  group_members: {
    body: `IF TG_OP = 'INSERT' THEN
          PERFORM write_audit('group.add_member', 'group', g.uuid, g.name, audit_changes('{}', jsonb_build_object('user_id', u.uuid)))
          FROM groups g, users u WHERE g.id = NEW.group_id AND u.id = NEW.user_id;
        ELSE
          PERFORM write_audit('group.remove_member', 'group', g.uuid, g.name, audit_changes(jsonb_build_object('user_id', u.uuid), '{"user_id": null}'))
          FROM groups g, users u WHERE g.id = OLD.group_id AND u.id = OLD.user_id;
        END IF;`,
  },
  tasks: {
    body: `PERFORM write_audit(CASE TG_OP WHEN 'INSERT' THEN 'job.run' ELSE 'job.cancel' END, 'job', NEW.uuid, NEW.kind, '{}');`,
  },
  permissions: resource('grant', { name: 'NULL', fields: GRANTED, showsDeleted: true }),
  shares: resource('share', {
    name: '(SELECT f.name FROM files f WHERE f.id = $.file_id)',
    fields: {
      file_id: uuidOf('files', 'file_id'),
      expires_at: '$.expires_at',
      max_downloads: '$.max_downloads',
      is_active: '$.is_active',
    },
    secrets: { password: 'password_hash' },
    action: `CASE WHEN NEW.download_count > OLD.download_count THEN 'share.download' ELSE 'share.update' END`,
  }),
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
  groups: resource('group', { name: '$.name', fields: { name: '$.name', description: '$.description' } }),
  webhooks: resource('webhook', {
    name: '$.url',
    fields: { url: '$.url', events: '$.events', active: '$.active', description: '$.description' },
    secrets: { secret: 'secret', headers: 'headers' },
  }),
} satisfies Readonly<Record<string, AuditFunction>>;

export const AUDIT_CHANGES = `audit_changes(before jsonb, after jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
        SELECT coalesce(jsonb_object_agg(a.key, jsonb_build_object('from', before -> a.key, 'to', a.value)), '{}')
        FROM jsonb_each(after) a WHERE a.value IS DISTINCT FROM coalesce(before -> a.key, 'null')
      $$`;

export const REFUSED_SIGN_IN = {
  signature: 'audit_refused_sign_in(account text, origin jsonb) RETURNS void LANGUAGE plpgsql',
  /** `first`: a statement before the others. */
  body: (first = ''): string => `AS $$
      BEGIN
        ${first}
        PERFORM write_audit('session.fail', 'user', u.uuid, coalesce(u.display_name, u.username), '{}', audit_refused_sign_in.origin)
        FROM (VALUES (account)) AS a (email) LEFT JOIN users u ON lower(u.email) = lower(a.email) AND NOT u.is_system;
      END $$`,
};

export const EXPIRE_AUDIT = {
  signature: 'expire_audit() RETURNS bigint LANGUAGE plpgsql',
  body: (first = ''): string => `AS $$
      DECLARE
        deleted bigint;
      BEGIN
        ${first}
        DELETE FROM audit_entries WHERE id IN (
          SELECT id FROM audit_entries WHERE at < now() - interval '${KEPT}' ORDER BY at, id LIMIT 1000);
        GET DIAGNOSTICS deleted = ROW_COUNT;
        RETURN deleted;
      END $$`,
};

export const AUDIT_TRIGGERS = [
  triggers('files', { when: changed('name', 'folder_id', 'owner_id', 'version_number', 'mime_type', 'deleted_at') }),
  triggers('folders', { when: changed('name', 'parent_id', 'owner_id', 'deleted_at') }),
  triggers('file_versions', { onInsert: false }),
  triggers('permissions', { when: changed('permission_level', 'expires_at') }),
  triggers('shares', { when: changed('password_hash', 'expires_at', 'max_downloads', 'is_active', 'download_count') }),
  triggers('users', {
    when: changed('email', 'username', 'display_name', 'roles', 'storage_quota', 'is_active', 'password_hash'),
  }),
  triggers('password_resets', { when: changed('token_hash'), onDelete: false }),
  triggers('sessions', { when: 'OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL', onDelete: false }),
  triggers('groups', { when: changed('name', 'description') }),
  triggers('group_members'),
  triggers('webhooks', { when: changed('url', 'events', 'active', 'description', 'secret', 'headers') }),
  triggers('tasks', { when: `OLD.state <> 'canceled' AND NEW.state = 'canceled'`, onDelete: false }),
].join('\n');

export const auditFunctions = (): string =>
  Object.entries(AUDIT_FUNCTIONS)
    .map(([table, does]) => triggerFunction(table, does))
    .join('');

/**
 * The audit log. Each entry is written by a trigger, in the transaction of the change, whoever makes it; `carrel.origin` says
 * whose request it is (pkg/store/postgres/origin.ts), `carrel.origins` of which file, where a statement makes files of several
 * people; without one it is the system's. The tenant's role reads entries and can neither write, change nor delete one: the
 * functions run as their owner.
 */
export const audit: TenantMigration = {
  name: '0045-audit',
  loses: 'The audit log.',
  up: ({ role }) => `
      CREATE TABLE audit_entries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        at timestamptz(3) NOT NULL DEFAULT now(),
        actor_id uuid,
        actor_name text,
        is_system boolean NOT NULL,
        action varchar(40) NOT NULL,
        target_type varchar(20) NOT NULL,
        target_id uuid,
        target_name text,
        ip varchar(64),
        request_id varchar(255),
        changes jsonb NOT NULL
      );
      CREATE INDEX audit_entries_at_idx ON audit_entries (at, id);
      CREATE INDEX audit_entries_target_id_idx ON audit_entries (target_id, at, id);
      CREATE INDEX audit_entries_actor_id_idx ON audit_entries (actor_id, at, id);
      CREATE INDEX audit_entries_action_idx ON audit_entries (action, at, id);
      REVOKE ALL ON audit_entries FROM ${quoteIdentifier(role)};
      GRANT SELECT ON audit_entries TO ${quoteIdentifier(role)};

      CREATE FUNCTION write_audit(action text, target_type text, target_id uuid, target_name text, changes jsonb, origin jsonb DEFAULT NULL)
        RETURNS void ${AS_OWNER} AS $$
      DECLARE
        whose jsonb := coalesce(origin, nullif(current_setting('carrel.origin', true), '')::jsonb);
      BEGIN
        INSERT INTO audit_entries (actor_id, actor_name, is_system, action, target_type, target_id, target_name, ip, request_id, changes)
        SELECT u.uuid, coalesce(u.display_name, u.username), whose IS NULL, write_audit.action, write_audit.target_type, write_audit.target_id,
          write_audit.target_name, left(whose ->> 'ip', 64), left(whose ->> 'request', 255), write_audit.changes
        FROM (VALUES ((whose ->> 'user')::bigint)) AS b (id) LEFT JOIN users u ON u.id = b.id;
      END $$;
      REVOKE ALL ON FUNCTION write_audit FROM PUBLIC;

      -- The fields that are not the same, each with both values.
      CREATE FUNCTION ${AUDIT_CHANGES};

      ${auditFunctions()}
      ${AUDIT_TRIGGERS}

      -- A refused sign-in: of the account if there is one. What was typed is not kept: it may be a password.
      CREATE FUNCTION ${REFUSED_SIGN_IN.signature} SECURITY DEFINER SET search_path FROM CURRENT ${REFUSED_SIGN_IN.body()};
      REVOKE ALL ON FUNCTION audit_refused_sign_in FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION audit_refused_sign_in TO ${quoteIdentifier(role)};

      -- Deletes some of what is kept long enough, and nothing else, whoever calls it; gives how many.
      CREATE FUNCTION ${EXPIRE_AUDIT.signature} SECURITY DEFINER SET search_path FROM CURRENT ${EXPIRE_AUDIT.body()};
      REVOKE ALL ON FUNCTION expire_audit FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION expire_audit TO ${quoteIdentifier(role)};
    `,
  down: () => `
      ${['files', 'folders', 'permissions', 'shares', 'users', 'groups', 'webhooks']
        .map((table) => ['insert', 'update', 'delete'].map((of) => `DROP TRIGGER audit_${of} ON ${table};`).join(' '))
        .join('\n')}
      DROP TRIGGER audit_delete ON file_versions;
      ${['password_resets', 'sessions', 'tasks'].map((table) => `DROP TRIGGER audit_insert ON ${table}; DROP TRIGGER audit_update ON ${table};`).join('\n')}
      DROP TRIGGER audit_insert ON group_members;
      DROP TRIGGER audit_delete ON group_members;
      DROP FUNCTION ${Object.keys(AUDIT_FUNCTIONS)
        .map((table) => `audit_${table}()`)
        .join(', ')};
      DROP FUNCTION audit_refused_sign_in, expire_audit, audit_changes, write_audit;
      DROP TABLE audit_entries;
    `,
};
