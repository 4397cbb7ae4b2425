import { expect, test } from '@jest/globals';
import { fixture } from '../support/suites/fixture.ts';
import { registeredLms, type Registration } from '../support/lms/registration.ts';
import { workerMib } from '../support/measures/resident.ts';
import { rosterCourse } from '../support/clients/rosters.ts';
import { waitFor } from '../support/wait.ts';
import { platformTenant, workerSuite } from '../support/suites/worker-suite.ts';

/** `make faults`: 100,000. The first roster of a process leaves there what it learns once, so one of a few pages goes before. */
const MEMBERS = Number(process.env.ROSTER_MEMBERS ?? 2_000);
const WARM_UP = 1_000;
const PAGE = 500;
/** A roster that is held costs some 1 KiB a person. */
const GROWTH_MAX_MIB = 64;
const LIMIT_MS = 1_200_000;

const { platform } = workerSuite({}, { asInChart: true });
const tenant = platformTenant(platform);
const at: Registration = fixture(
  () => registeredLms(tenant),
  ({ lms }) => lms.stop(),
);

/** Takes the roster of a course of its own over, and gives how much the worker had at most until then. */
async function peakOf(members: number): Promise<number> {
  const { api, enrolMany, request, people } = await rosterCourse(tenant, at);
  enrolMany(members);
  const { id } = await request();
  let peak = 0;
  const job = await waitFor(
    'the end of the job',
    async () => {
      peak = Math.max(peak, workerMib());
      const { body } = await api.get(`/jobs/${id}`);
      return body.ended_at !== null && body;
    },
    LIMIT_MS,
  );
  // And the instructor, who has launched.
  expect([job.state, job.error, job.result?.members]).toEqual(['succeeded', null, members + 1]);
  expect((await people({ q: `p${members - 1}@` })).map(({ status }) => status)).toEqual(['active']);
  return peak;
}

test(
  `a roster of ${MEMBERS} members takes the worker no more than ${GROWTH_MAX_MIB} MiB`,
  async () => {
    at.lms.members.pageSize = PAGE;
    await peakOf(WARM_UP);
    const idle = workerMib();

    const peak = await peakOf(MEMBERS);

    process.stderr.write(
      `  idle ${idle.toFixed(0)} MiB; ${MEMBERS} members ${peak.toFixed(0)} MiB, ${(peak - idle).toFixed(0)} more\n`,
    );
    expect(peak - idle).toBeLessThan(GROWTH_MAX_MIB);
  },
  LIMIT_MS,
);
