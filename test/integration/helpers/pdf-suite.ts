import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { type PdfLimits, pdfProcessors } from '../../../pkg/helper-services/pdf/pdf.processor.ts';
import { HELPER_QUEUE } from '../../../pkg/helper-services/pdf/pdf-tasks.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import type { Api } from '../../support/clients/api.ts';
import { fixture, testFixture } from '../../support/suites/fixture.ts';
import { startHelper, type TestHelper } from '../../support/fakes/helpers/helper.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';
import type { TestPlatform } from '../../support/programs/worker-platform.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

export interface PdfSuite {
  readonly platform: TestPlatform;
  readonly tenant: TestTenant;
  /** New in each test; the tenant's for all kinds after `configure`. */
  readonly helper: TestHelper;
}

/** A tenant, and a worker in this process that converts PDFs, with short waits. */
export function pdfSuite(limits: PdfLimits, clock: Clock = systemClock): PdfSuite {
  const platform = platformSuite();
  const tenant = platformTenant(platform);
  fixture(
    async () =>
      workerInProcess(
        platform,
        {
          queues: [{ name: HELPER_QUEUE, perTenant: 4, concurrency: 8, timeLimitMs: 60_000 }],
          processors: pdfProcessors(limits),
        },
        { egressAllow: parseAllowedRanges('127.0.0.0/8'), clock },
      ),
    (worker) => worker.close(),
  );
  const helper = testFixture(startHelper, (running) => running.close());
  return { platform, tenant, helper };
}

/** Has the tenant use one helper for all, as the operator does. */
export const configure = (
  { rows }: TestTenant,
  { url }: Pick<TestHelper, 'url'>,
  token: string | null = 'the-token',
): Promise<void> =>
  syncHelpers(
    rows,
    (['translate', 'pdf_optimize', 'pdf_translate'] as const).map((kind) => ({ kind, url, token })),
  );

export const upload = async (
  api: Api,
  file: Buffer,
  fields: Record<string, string> = {},
  name = 'thesis.pdf',
): Promise<string> => {
  const { status, body } = await api.upload('/files', { file, name, fields, type: 'application/pdf' });
  if (status !== 201) throw new Error(`the upload answered ${status} ${JSON.stringify(body)}`);
  return body.id;
};

// oxlint-disable-next-line typescript/no-explicit-any -- what the server sent, whatever that was
export type Job = any;

/** A job once it has ended. */
export const endOf = (api: Api, id: string): Promise<Job> =>
  waitFor('the end of the job', async () => {
    const { body } = await api.get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });

/** Requests a conversion, and gives its job once it has ended. */
export async function converted(api: Api, id: string, how: 'optimize' | 'translate', body: object = {}): Promise<Job> {
  const wanted = how === 'translate' ? { target_language: 'es', ...body } : body;
  const { status, body: job } = await api.post(`/files/${id}/${how}`, wanted);
  if (status !== 202) throw new Error(`the request answered ${status} ${JSON.stringify(job)}`);
  return endOf(api, job.id);
}

/** Returns all that a conversion may change: counted bytes, objects, versions, reservations, and inconsistencies. */
export async function stateOf(tenant: TestTenant, userId: string): Promise<object> {
  const [counts] = await tenant.db.query(
    `SELECT (SELECT count(*) FROM file_versions)::int AS versions, (SELECT count(*) FROM files)::int AS files,
       (SELECT count(*) FROM storage_reservations)::int AS reservations`,
  );
  return { ...counts, quota: await quotaOf(tenant, userId), objects: await objectCount(tenant), faults: await faultsOf(tenant) };
}
