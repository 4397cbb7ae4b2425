import { z } from 'zod';
import type { Json } from '../../store/postgres/job-store.ts';
import { maintenanceProcessor } from './maintenance-processor.ts';
import { VERIFY_CHECKSUMS } from './maintenance-tasks.ts';
import { planTo } from '../../tasks/task-steps.sql.ts';
import { describeFault } from './faults.ts';
import { checkBytes } from './integrity-check.ts';
import { versionsAfter } from './integrity.sql.ts';

/** The run reads this many versions before it records its progress, and gives way to others if its turn is over. */
const VERSIONS_AT_ONCE = 100;
/** Faults of one run that are logged; the counts include all. */
const LOGGED_MAX = 20;

/** The progress of a run: the key of the object that it read last. */
const Cursor = z.object({ after: z.string(), versions: z.int(), faults: z.int() });

/**
 * Reads the bytes of all versions and compares their checksums. An interrupted run continues after the last hundred that it had
 * read. Faults are logged and not changed.
 */
export const verifyChecksums = maintenanceProcessor({
  kind: VERIFY_CHECKSUMS,
  create:
    ({ log }) =>
    async ({ step, transaction, yieldTurn, context }) => {
      const { objects } = await context.storage();
      const checked = { transaction, storage: { objects }, signal: context.signal };
      for (;;) {
        yieldTurn();
        const { at, page } = await step(async (tx, { cursor }) => {
          const at = Cursor.parse(cursor ?? { after: '', versions: 0, faults: 0 });
          return { at, page: await versionsAfter(tx, at.after, VERSIONS_AT_ONCE) };
        });
        const last = page.at(-1);
        if (!last) return { versions: at.versions, faults: at.faults };
        let { faults } = at;
        for await (const { fault } of checkBytes(checked, page, true)) {
          faults += 1;
          if (faults <= LOGGED_MAX) log.warn({ tenant: context.slug, kind: fault.kind }, describeFault(fault));
        }
        const read: Json = { after: last.key, versions: at.versions + page.length, faults };
        await step((tx, { id }) => planTo(tx, id, read));
      }
    },
});
