import { expect } from '@jest/globals';
import type { Api } from './api.ts';
import { waitFor } from '../wait.ts';

export const filesOf = (ids: readonly string[]) => ids.map((id) => ({ type: 'file', id }));
export const foldersOf = (ids: readonly string[]) => ids.map((id) => ({ type: 'folder', id }));

/** A job once it has ended. */
export const jobEnd = (api: Api, id: string) =>
  waitFor('the end of the job', async () => {
    const { body } = await api.get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });

/**
 * A batch once it has ended, with its items by what they are about: their error's code, or why they are skipped, or their state.
 */
export async function batchEnd(api: Api, body: object) {
  const { status, body: job } = await api.post('/batch', body);
  expect([status, job.kind, job.error ?? null]).toEqual([202, 'batch', null]);
  const end = await jobEnd(api, job.id);
  const { data } = (await api.get(`/jobs/${job.id}/items`, { query: { limit: 200 } })).body;
  const items = new Map<string, string>(
    data.map(({ target, state, error, reason }: Record<string, Record<string, string>>) => [
      target?.id,
      error?.code ?? reason ?? state,
    ]),
  );
  return {
    ...end,
    items,
    results: new Map<string, Record<string, string>>(
      data.map(({ target, result }: Record<string, Record<string, string>>) => [target?.id, result]),
    ),
    names: new Map<string, string>(data.map(({ target }: { target: Record<string, string> }) => [target['id'], target['name']])),
  };
}
