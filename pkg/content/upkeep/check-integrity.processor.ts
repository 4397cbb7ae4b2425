import { Counter } from 'prom-client';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { processor } from '../../events/processor.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { describeFault, FAULT_KINDS } from './faults.ts';
import { checkIntegrity } from './integrity-check.ts';
import { CHECK_INTEGRITY } from './integrity.jobs.ts';
import { noteFaults } from './integrity.sql.ts';

/** At most 64 MiB each, so a check reads about 3 GiB at most. */
const SAMPLE = { versions: 50, maxBytes: 64 << 20 };
/** Faults of one check that are logged; the counts include all. */
const LOGGED_MAX = 20;

/**
 * Checks a tenant's rows and objects, repairs faults with only one possible repair, and reports the rest: metrics, the log, and
 * an Event of the Tenant.
 */
export const checkTenantIntegrity = processor({
  job: CHECK_INTEGRITY,
  create: ({ clock, log, metrics }) => {
    const found = new Counter({
      name: 'carrel_integrity_faults_total',
      help: 'Faults that integrity checks found, by kind',
      labelNames: ['kind'],
      registers: [metrics],
    });
    const repaired = new Counter({
      name: 'carrel_integrity_repaired_total',
      help: 'Faults that integrity checks put right, by kind',
      labelNames: ['kind'],
      registers: [metrics],
    });
    const checks = new Counter({
      name: 'carrel_integrity_checks_total',
      help: 'Integrity checks of a tenant that ended',
      registers: [metrics],
    });
    for (const kind of FAULT_KINDS) for (const counter of [found, repaired]) counter.inc({ kind }, 0);
    return async ({ slug, transaction, cache, storage, signal }) => {
      const counts = new Map(FAULT_KINDS.map((kind) => [kind, { found: 0, repaired: 0 }]));
      let logged = 0;
      const recounting = (fn: (tx: Sql) => Promise<void>): Promise<void> =>
        transaction(async (tx) => {
          await fn(tx);
          cache.invalidate(tx, USERS_TAG);
        });
      const checked = { slug, transaction, recounting, storage: await storage(), now: clock.now(), signal };
      for await (const { fault, isRepaired } of checkIntegrity(checked, { repair: true, sample: SAMPLE })) {
        const count = counts.get(fault.kind) ?? { found: 0, repaired: 0 };
        count.found += 1;
        found.inc({ kind: fault.kind });
        if (isRepaired) {
          count.repaired += 1;
          repaired.inc({ kind: fault.kind });
        }
        logged += 1;
        if (logged <= LOGGED_MAX) log.warn({ tenant: slug, kind: fault.kind, repaired: isRepaired }, describeFault(fault));
      }
      const each = [...counts.values()];
      await transaction((tx) =>
        noteFaults(
          tx,
          [...counts.keys()],
          each.map((count) => count.found),
          each.map((count) => count.repaired),
        ),
      );
      checks.inc();
      log.info({ tenant: slug, faults: logged }, 'integrity checked');
    };
  },
});
