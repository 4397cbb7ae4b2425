/** The operator's side of the table `settings`: it uses a role that writes every tenant's schema. */
import { isDeepStrictEqual } from 'node:util';
import { inTenantSchema, type ShardAccess } from '../store/postgres/provisioning.ts';
import { MANAGED_BY } from '../store/postgres/tenant-schema.ts';
import type { LinkPolicy } from './link-policy.sql.ts';
import { lockSettings, writeLinkPolicy } from './settings.sql.ts';

/**
 * Gives the tenant this policy of share links, which administrators then cannot change. Undefined: the policy stays as it is, and
 * administrators may change it. One or two statements.
 */
export async function syncLinkPolicy(shard: ShardAccess, slug: string, wanted: LinkPolicy | undefined): Promise<void> {
  await inTenantSchema(shard, slug, async (tx) => {
    if (!wanted) {
      await tx.query('UPDATE settings SET share_links_managed_by = NULL WHERE share_links_managed_by IS NOT NULL');
      return;
    }
    const { enabled, passwordRequired, maxDays, folderUploads, managedBy } = await lockSettings(tx);
    const isSame = isDeepStrictEqual({ enabled, passwordRequired, maxDays, folderUploads }, wanted) && managedBy === MANAGED_BY;
    if (!isSame) await writeLinkPolicy(tx, wanted, MANAGED_BY);
  });
}
