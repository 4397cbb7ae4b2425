import { requireMatch } from '../api/etag.ts';
import { Problem } from '../api/problem.ts';
import type { Database } from '../store/postgres/database.ts';
import type { LinkPolicy } from './link-policy.sql.ts';
import type { SettingsChanges, SettingsView } from './settings.schema.ts';
import { findSettings, lockSettings, type SettingsRow, writeLinkPolicy } from './settings.sql.ts';
import { presentSettings, settingsEtag, type TenantOfSettings } from './settings.view.ts';

/**
 * The settings that administrators make for all people of the tenant.
 *
 * Invariants:
 * - A change holds from the next request on, on every server: nothing caches the settings.
 * - What `spec.shareLinks` of the Tenant resource sets is shown here and must be changed there.
 */
export class Settings {
  readonly #db: Database;
  readonly #tenant: TenantOfSettings;

  constructor(deps: { db: Database; tenant: TenantOfSettings }) {
    this.#db = deps.db;
    this.#tenant = deps.tenant;
  }

  /** Runs one statement. */
  async show(): Promise<SettingsView> {
    return presentSettings(this.#tenant, await findSettings(this.#db));
  }

  /** Runs two statements. Throws `managed`, `precondition_failed`. */
  async change({ share_links: changes }: SettingsChanges, ifMatch: readonly string[] | '*' | undefined): Promise<SettingsView> {
    return this.#db.transaction(async (tx) => {
      const row = await lockSettings(tx);
      if (row.managedBy !== null)
        throw new Problem('managed', 'The Tenant resource (spec.shareLinks) sets the policy of share links; change it there.');
      requireMatch(ifMatch, settingsEtag(this.#tenant.id, row));
      return presentSettings(this.#tenant, changes ? await writeLinkPolicy(tx, changed(row, changes), null) : row);
    });
  }
}

const changed = (row: SettingsRow, changes: NonNullable<SettingsChanges['share_links']>): LinkPolicy => ({
  enabled: changes.enabled ?? row.enabled,
  passwordRequired: changes.password_required ?? row.passwordRequired,
  maxDays: changes.max_days === undefined ? row.maxDays : changes.max_days,
  folderUploads: changes.folder_uploads ?? row.folderUploads,
});
