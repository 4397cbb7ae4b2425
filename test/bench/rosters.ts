import { registeredLms } from '../support/lms/registration.ts';
import { SCOPE } from '../../pkg/local/demo/lms/scopes.ts';
import { startServiceTool } from '../support/lms/service-tool.ts';
import { workerMib } from '../support/measures/resident.ts';
import { rosterCourse } from '../support/clients/rosters.ts';
import type { TestPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { byTurns, countOperations, type Line, progress, rateLine } from './measure.ts';

const MEMBERS = 10_000;
const LARGE = { members: 100_000, page: 500, mostMib: 64 };
const SAMPLE_MS = 100;
const CONTAINER = 'application/vnd.ims.lti-nrps.v2.membershipcontainer+json';

/**
 * Members a second of a roster that is taken over as it was, beside reading and parsing the same pages; and what a worker needs
 * for a large one.
 */
export async function rosters(platform: TestPlatform): Promise<Line[]> {
  const tenant = await platform.tenant();
  const at = await registeredLms(tenant);
  const worker = await startWorkerProcess(platform);
  const tool = await startServiceTool(at.lms, 'bench');
  try {
    const { course, enrolMany, sync } = await rosterCourse(tenant, at);
    const membersOf = async (read: () => Promise<number>, wanted = MEMBERS): Promise<number> => {
      const members = await read();
      if (members !== wanted + 1) throw new Error(`the roster had ${members} members`);
      return members;
    };
    const rate = async (read: () => Promise<number>): Promise<number> => {
      const started = performance.now();
      const members = await membersOf(read);
      countOperations(members);
      return (members * 1000) / (performance.now() - started);
    };
    const taken = async (): Promise<number> => (await sync()).result.members;
    enrolMany(MEMBERS);
    const authorization = `Bearer ${await tool.token([SCOPE.members])}`;
    const first = `${at.lms.issuer}/nrps/${course.id}/members`;
    const measured = await byTurns(
      () => rate(taken),
      () => rate(() => readAll(first, authorization)),
      { rounds: 3 },
    );
    enrolMany(LARGE.members);
    at.lms.members.pageSize = LARGE.page;
    progress(`a roster of ${LARGE.members} members`);
    const grown = await growth(() => membersOf(taken, LARGE.members));
    return [
      rateLine(`members of a roster of ${MEMBERS}, pages of 50`, measured, 'reading and parsing the same pages', 0.1),
      {
        what: `memory of a worker that takes over a roster of ${LARGE.members}`,
        ours: `${grown.toFixed(0)} MiB more`,
        control: '',
        target: `< ${LARGE.mostMib} MiB more`,
        met: grown < LARGE.mostMib,
      },
    ];
  } finally {
    await Promise.all([worker.end('SIGTERM'), tool.stop(), at.lms.stop()]);
  }
}

async function readAll(first: string, authorization: string): Promise<number> {
  let members = 0;
  for (let url: string | undefined = first; url !== undefined;) {
    const reply = await fetch(url, { headers: { authorization, accept: CONTAINER } });
    members += ((await reply.json()) as { members: unknown[] }).members.length;
    url = /<([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];
  }
  return members;
}

/** MiB that the worker has more at most while `work` runs. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = workerMib();
  let most = before;
  const look = setInterval(() => (most = Math.max(most, workerMib())), SAMPLE_MS);
  await work().finally(() => clearInterval(look));
  return most - before;
}
