import { expect, test } from '@jest/globals';
import type { Api } from '../support/clients/api.ts';
import { endOf, exported, MIB, multiply, newFile, newFolder } from '../support/clients/exports.ts';
import { workerMib } from '../support/measures/resident.ts';
import { waitFor } from '../support/wait.ts';
import { platformTenant, workerSuite } from '../support/suites/worker-suite.ts';

/** The sizes in `make test`. `make faults` sets 50,000 entries, 100,000 empty folders and 2,048 MiB. */
const ENTRIES = Number(process.env.EXPORT_ENTRIES ?? 500);
const FOLDERS = Number(process.env.EXPORT_FOLDERS ?? 500);
const SIZE_MIB = Number(process.env.EXPORT_MIB ?? 256);
const LIMIT_MS = 3_600_000;
/**
 * The most that a worker's memory may grow beyond its memory after one small export. Measured: 49 to 75 MiB, whatever it exports;
 * a worker that held an archive would grow by the size of the archive. In `make test` the bound is higher, because the load of
 * other tests delays garbage collection.
 */
const GROWTH_MAX_MIB = process.env.EXPORT_MIB === undefined ? 112 : 96;

const { platform } = workerSuite({}, { asInChart: true });
const tenant = platformTenant(platform);

/** Rows that one statement inserts. A tenant's statements time out after 8 s, even on a busy machine. */
const ROWS_AT_ONCE = 10_000;

/** Inserts empty folders into a folder with SQL, which is faster than requests. */
async function addFolders(parent: string, count: number): Promise<void> {
  for (let from = 1; from <= count; from += ROWS_AT_ONCE)
    await tenant.db.query(
      `INSERT INTO folders (uuid, name, path, parent_id, owner_id)
       SELECT gen_random_uuid(), 'folder ' || n, p.path || '/folder ' || n, p.id, p.owner_id
       FROM folders p, generate_series($2::int, $3::int) n WHERE p.uuid = $1`,
      [parent, from, Math.min(count, from + ROWS_AT_ONCE - 1)],
    );
}

/** Exports a folder. Returns the peak of the worker's memory, the duration, and the size of the archive. */
async function measured(api: Api, folder: string) {
  const begun = performance.now();
  const { body } = await api.post('/exports', { folder_id: folder });
  let peakMib = 0;
  await waitFor(
    'the end of the export',
    async () => {
      peakMib = Math.max(peakMib, workerMib());
      return (await api.get(`/jobs/${body.id}`)).body.ended_at !== null;
    },
    LIMIT_MS,
  );
  const job = await endOf(api, body.id);
  expect([job.state, job.error]).toEqual(['succeeded', null]);
  return { peakMib, seconds: (performance.now() - begun) / 1_000, size: job.result.size as number };
}

test(
  `a worker that exports ${ENTRIES} files, ${FOLDERS} empty folders and ${SIZE_MIB} MiB grows by no more than ` +
    `${GROWTH_MAX_MIB} MiB, even if it exports them twice`,
  async () => {
    const { api } = await tenant.user({ storage_quota: 20 * 1024 ** 3 });
    const [first, many, empty, large] = [
      await newFolder(api, 'first'),
      await newFolder(api, 'many'),
      await newFolder(api, 'empty'),
      await newFolder(api, 'large'),
    ];
    await multiply(tenant, await newFile(api, first, 'file'), 199);
    await multiply(tenant, await newFile(api, many, 'file'), ENTRIES - 1);
    await addFolders(empty, FOLDERS);
    await multiply(tenant, await newFile(api, large, 'file', Buffer.alloc(32 * MIB, 'x')), SIZE_MIB / 32 - 1);
    // The first export loads code and fills caches, which belong to the worker's memory at rest.
    await exported(api, { folder_id: first });
    const idle = workerMib();

    const kinds = [
      [`${ENTRIES} files`, many],
      [`${FOLDERS} folders`, empty],
      [`${SIZE_MIB} MiB`, large],
    ] as const;
    const results = [];
    for (const [what, folder] of [...kinds, ...kinds]) {
      const { peakMib, seconds, size } = await measured(api, folder);
      results.push(peakMib - idle);
      process.stderr.write(
        `  ${what}: ${(peakMib - idle).toFixed(0)} MiB over ${idle.toFixed(0)}, ${seconds.toFixed(1)} s for ${size} bytes\n`,
      );
    }
    for (const growth of results) expect(growth).toBeLessThan(GROWTH_MAX_MIB);
  },
  LIMIT_MS,
);
