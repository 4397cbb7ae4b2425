import { rosterProcessors } from '../../../pkg/lti/members/sync-roster.processor.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { ROSTER_QUEUE } from '../../../pkg/tasks/roster-tasks.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';

/**
 * A tenant with an LMS, and a worker that takes rosters over. It tries each once: what fails here fails at once. Registers its
 * own hooks.
 */
export function rosterSuite(): { readonly tenant: TestTenant; readonly at: Registration } {
  const platform = platformSuite();
  const tenant = platformTenant(platform);
  const at = fixture(
    () => registeredLms(tenant),
    ({ lms }) => lms.stop(),
  );
  fixture(
    async () =>
      workerInProcess(
        platform,
        { queues: [{ name: ROSTER_QUEUE, perTenant: 2, concurrency: 4 }], processors: rosterProcessors({ retryMs: [] }) },
        { egressAllow: parseAllowedRanges('127.0.0.0/8') },
      ),
    (worker) => worker.close(),
  );
  return { tenant, at };
}
