import { auditFunctions, resource, shown, uuidOf } from './audit-entries.ts';

/** A trash's resource: `content` is true where an UPDATE gives it new content. */
const trashable = (type: string, content: string): string => `
  CASE
    WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL THEN '${type}.delete'
    WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL THEN '${type}.restore'
    WHEN ${content} THEN '${type}.upload'
    ELSE '${type}.update'
  END`;

const OF_FILE = { name: '$.name', path: '$.path', size: '$.size', version: '$.version_number', mime_type: '$.mime_type' };
const NEW_FILE = {
  path: '$.path',
  size: '$.size',
  version: '$.version_number',
  uploaded_by: "to_jsonb($) ->> 'uploaded_by'",
};
const OWNER = { owner_id: uuidOf('users', 'owner_id') };

const GRANTED = {
  resource_type: '$.resource_type',
  resource_id: `CASE $.resource_type
    WHEN 'file' THEN ${uuidOf('files', 'resource_id')} ELSE ${uuidOf('folders', 'resource_id')} END`,
  permission_level: '$.permission_level',
  user_id: uuidOf('users', 'user_id'),
  group_id: uuidOf('groups', 'group_id'),
  expires_at: '$.expires_at',
};

/** A column of the folder of a share link. The row is read as JSON: schemas of the former release have no such link. */
const sharedFolderColumn = (column: string): string =>
  `(SELECT d.${column} FROM folders d WHERE d.id = (to_jsonb($) ->> 'folder_id')::bigint)`;

/** Files, folders, versions, grants and share links. */
export const auditOfContent = auditFunctions({
  files: {
    declared: 'what text;',
    body: `CASE TG_OP
          WHEN 'INSERT' THEN
            PERFORM write_audit('file.upload', 'file', NEW.uuid, NEW.name,
              audit_changes('{}', ${shown('NEW', NEW_FILE)}),
              nullif(current_setting('carrel.origins', true), '')::jsonb -> NEW.uuid::text);
          WHEN 'UPDATE' THEN
            what := ${trashable('file', 'OLD.version_number <> NEW.version_number')};
            PERFORM write_audit(what, 'file', NEW.uuid, NEW.name, CASE WHEN what = 'file.delete' THEN '{}' ELSE audit_changes(
              ${shown('OLD', OF_FILE)}, ${shown('NEW', OF_FILE)}) END
              || CASE WHEN OLD.owner_id = NEW.owner_id THEN '{}' ELSE audit_changes(
                ${shown('OLD', OWNER)}, ${shown('NEW', OWNER)}) END);
          ELSE
            PERFORM write_audit('file.purge', 'file', OLD.uuid, OLD.name, '{}');
        END CASE;`,
  },
  folders: {
    declared: 'what text;',
    body: `CASE TG_OP
          WHEN 'INSERT' THEN
            PERFORM write_audit('folder.create', 'folder', NEW.uuid, NEW.name,
              audit_changes('{}', ${shown('NEW', { path: '$.path' })}));
          WHEN 'UPDATE' THEN
            what := ${trashable('folder', 'false')};
            PERFORM write_audit(what, 'folder', NEW.uuid, NEW.name, CASE WHEN what = 'folder.delete' THEN '{}' ELSE audit_changes(
              ${shown('OLD', { name: '$.name', path: '$.path' })}, ${shown('NEW', { name: '$.name', path: '$.path' })}) END
              || CASE WHEN OLD.owner_id = NEW.owner_id THEN '{}' ELSE audit_changes(
                ${shown('OLD', OWNER)}, ${shown('NEW', OWNER)}) END);
          ELSE
            PERFORM write_audit('folder.purge', 'folder', OLD.uuid, OLD.name, '{}');
        END CASE;`,
  },
  file_versions: {
    // Of a file that goes for ever they go with it.
    body: `IF EXISTS (SELECT FROM files f WHERE f.id = OLD.file_id) THEN
          PERFORM write_audit('version.delete', 'file', f.uuid, f.name,
            audit_changes('{}', jsonb_build_object('version', OLD.version_number)))
          FROM files f WHERE f.id = OLD.file_id;
        END IF;`,
  },
  permissions: resource('grant', { name: 'NULL', fields: GRANTED, showsDeleted: true }),
  shares: resource('share', {
    name: `coalesce((SELECT f.name FROM files f WHERE f.id = $.file_id), ${sharedFolderColumn('name')})`,
    fields: {
      file_id: uuidOf('files', 'file_id'),
      folder_id: sharedFolderColumn('uuid'),
      mode: "CASE WHEN to_jsonb($) ->> 'folder_id' IS NOT NULL THEN to_jsonb($) ->> 'mode' END",
      expires_at: '$.expires_at',
      max_downloads: '$.max_downloads',
      is_active: '$.is_active',
    },
    secrets: { password: 'password_hash' },
    action: `CASE WHEN NEW.download_count > OLD.download_count THEN 'share.download' ELSE 'share.update' END`,
  }),
});
