import type { Sql } from '../store/postgres/pool.ts';
import type { LinkPolicy } from './link-policy.sql.ts';

export interface SettingsRow extends LinkPolicy {
  readonly managedBy: string | null;
  readonly revision: number;
  readonly updatedAt: Date;
}

const COLUMNS = `
  share_links_enabled AS enabled, share_links_password_required AS "passwordRequired", share_links_max_days AS "maxDays",
  share_links_folder_uploads AS "folderUploads", share_links_managed_by AS "managedBy", revision, updated_at AS "updatedAt"`;

/** Returns undefined until somebody has changed a setting. One statement. */
export async function findSettings(sql: Sql): Promise<SettingsRow | undefined> {
  const [row] = await sql.query<SettingsRow>(`SELECT ${COLUMNS} FROM settings`);
  return row;
}

/** Returns the row, locked; makes it with the defaults if there is none. One statement. */
export async function lockSettings(tx: Sql): Promise<SettingsRow> {
  const [row] = await tx.query<SettingsRow>(
    `INSERT INTO settings DEFAULT VALUES ON CONFLICT (is_sole) DO UPDATE SET is_sole = settings.is_sole RETURNING ${COLUMNS}`,
  );
  if (!row) throw new Error('the settings have no row');
  return row;
}

/** Returns the changed row. The row must be there. One statement. */
export async function writeLinkPolicy(
  tx: Sql,
  { enabled, passwordRequired, maxDays, folderUploads }: LinkPolicy,
  managedBy: string | null,
): Promise<SettingsRow> {
  const [row] = await tx.query<SettingsRow>(
    `UPDATE settings SET share_links_enabled = $1, share_links_password_required = $2, share_links_max_days = $3,
       share_links_folder_uploads = $4, share_links_managed_by = $5 RETURNING ${COLUMNS}`,
    [enabled, passwordRequired, maxDays, folderUploads, managedBy],
  );
  if (!row) throw new Error('the settings have no row');
  return row;
}
