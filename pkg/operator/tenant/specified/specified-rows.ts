import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { periodMs } from '../../../lti/registrations/rotation.policy.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { LinkPolicy } from '../../../settings/link-policy.sql.ts';
import { syncLinkPolicy } from '../../../settings/managed-settings.ts';
import { type SpecifiedSchedule, syncManagedSchedules, type WantedSchedules } from '../../../schedules/managed-schedules.ts';
import type { ObservedTenant } from '../../kinds.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { DatabaseAccess } from '../database/database-step.ts';
import { MINUTE_MS } from '../../../runtime/time.ts';

/** Changes that others made to the rows are reverted after this time at the latest. */
const WRITE_AGAIN_MS = 10 * MINUTE_MS;
/** With more tenants than this, the schedules of some are written again sooner. */
const TENANTS_MAX = 10_000;

interface Wanted extends WantedSchedules {
  /** Undefined: administrators set it. */
  readonly linkPolicy: LinkPolicy | undefined;
}

interface Written {
  readonly wanted: Wanted;
  readonly schemaVersion: string;
  readonly shard: string;
  /** Monotonic. */
  readonly until: number;
}

/**
 * Writes the rows of `spec.schedules`, the settings that runs of all schedules of a tenant need, and the policy of
 * `spec.shareLinks`. Runs no statement if the same values were written recently.
 */
export class SpecifiedRows {
  readonly #clock: Clock;
  /** By the uid of the Tenant. */
  readonly #written = new LRUCache<string, Written>({ max: TENANTS_MAX });

  constructor(deps: { clock: Clock }) {
    this.#clock = deps.clock;
  }

  /** `administrator`: the address that the operator made the account for. */
  async sync(tenant: ObservedTenant, accepted: AcceptedTenant, database: DatabaseAccess, administrator: string): Promise<void> {
    // Its rows are being copied; they are written on the other shard.
    if (accepted.move?.isAlive) return;
    const { uid } = tenant.metadata;
    const { trashRetention, versions, schedules = [] } = tenant.spec;
    const settings = {
      trashRetentionMs: periodMs(trashRetention),
      appUrl: accepted.addresses.appUrl,
      versions: { keep: versions.keep, days: versions.days ?? null },
    };
    const wanted = { schedules: schedules as SpecifiedSchedule[], administrator, settings, linkPolicy: linkPolicyOf(tenant) };
    const { schemaVersion } = database;
    const last = this.#written.get(uid);
    const isSame =
      last?.schemaVersion === schemaVersion && last.shard === accepted.shard && isDeepStrictEqual(last.wanted, wanted);
    if (isSame && last.until > this.#clock.monotonic()) return;
    this.#written.delete(uid);
    await syncManagedSchedules(database.shard, accepted.slug, wanted);
    await syncLinkPolicy(database.shard, accepted.slug, wanted.linkPolicy);
    this.#written.set(uid, { wanted, schemaVersion, shard: accepted.shard, until: this.#clock.monotonic() + WRITE_AGAIN_MS });
  }
}

const linkPolicyOf = ({ spec: { shareLinks } }: ObservedTenant): LinkPolicy | undefined =>
  shareLinks && {
    enabled: shareLinks.enabled,
    passwordRequired: shareLinks.passwordRequired,
    maxDays: shareLinks.maxDays ?? null,
    folderUploads: shareLinks.folderUploads,
  };
