import { startPlatform, type TestPlatform } from '../support/programs/worker-platform.ts';
import type { Line } from './measure.ts';

/** Each is loaded alone: a base that lacks what one of them needs can still run the others. */
export const BENCHES: Readonly<Record<string, () => Promise<Line[]>>> = {
  jobs: () => onPlatform(async (platform) => (await import('./jobs.ts')).jobs(platform)),
  launches: () => onPlatform(async ({ stores }) => (await import('./launches.ts')).launches(stores)),
  deliveries: () => onPlatform(async (platform) => (await import('./deliveries.ts')).deliveries(platform)),
  fairness: async () => (await import('./fairness.ts')).fairness(),
  folders: () => onPlatform(async ({ stores }) => (await import('./folders.ts')).folders(stores)),
  lists: () => onPlatform(async ({ stores }) => (await import('./lists.ts')).lists(stores)),
  metadata: () => onPlatform(async ({ stores }) => (await import('./metadata.ts')).metadata(stores)),
  onboarding: async () => (await import('./onboarding.ts')).onboarding(),
  operator: async () => (await import('./operator/operator.ts')).operator(),
  'page-lists': () => onPlatform(async ({ stores }) => (await import('./page-lists.ts')).pageLists(stores)),
  'page-uploads': () => onPlatform(async ({ stores }) => (await import('./page-uploads.ts')).pageUploads(stores)),
  rosters: () => onPlatform(async (platform) => (await import('./rosters.ts')).rosters(platform)),
  search: () => onPlatform(async ({ stores }) => (await import('./search.ts')).search(stores)),
  recovery: async () => (await import('./recovery.ts')).recovery(),
  transfers: () => onPlatform(async ({ stores }) => (await import('./transfers.ts')).transfers(stores)),
  uploads: () => onPlatform(async ({ stores }) => (await import('./uploads.ts')).uploads(stores)),
  weight: () => onPlatform(async ({ stores }) => (await import('./weight.ts')).weight(stores)),
};

/** Measured without turns, of the present alone: they judge a promise in time, not a rate. */
export const WITHOUT_BASE: ReadonlySet<string> = new Set(['fairness', 'jobs', 'operator', 'recovery']);

async function onPlatform(bench: (platform: TestPlatform) => Promise<Line[]>): Promise<Line[]> {
  const platform = await startPlatform({ durable: true });
  try {
    return await bench(platform);
  } finally {
    await platform.stop();
  }
}
