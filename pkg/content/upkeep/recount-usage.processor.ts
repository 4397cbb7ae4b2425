import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { wrongUsage } from './integrity-check.ts';
import { maintenanceProcessor } from './maintenance-processor.ts';
import { RECOUNT_USAGE } from './maintenance-tasks.ts';

/** Recounts the usage of people where the count is wrong. */
export const recountUsage = maintenanceProcessor({
  kind: RECOUNT_USAGE,
  create:
    () =>
    async ({ transaction, context: { cache, signal } }) => {
      const recounting = (fn: Parameters<typeof transaction<void>>[0]): Promise<void> =>
        transaction(async (tx) => {
          await fn(tx);
          cache.invalidate(tx, USERS_TAG);
        });
      let corrected = 0;
      for await (const _ of wrongUsage({ transaction, recounting, signal }, true)) corrected += 1;
      return { corrected };
    },
});
