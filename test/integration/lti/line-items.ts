import type { Api, ApiReply } from '../../support/clients/api.ts';
import { AGS } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import type { Registration } from '../../support/lms/registration.ts';
import type { TestTenant } from '../../support/programs/server.ts';

export const ITEM = { label: 'Essay', score_maximum: 10 };
/** A launch whose claim of AGS is changed so. */
export const ags = (change: (claim: Record<string, unknown>) => void): Fault => ({
  claims: (all) => change(all[AGS] as Record<string, unknown>),
});

/** A course of its own, with an instructor. */
export interface Course {
  readonly api: Api;
  readonly lmsId: string;
  readonly id: string;
  /** Path of its line items. */
  readonly items: string;
  /** Makes one; throws unless that succeeds. */
  make(more?: object): Promise<{ id: string; url: string; etag: string }>;
  labels(query?: Record<string, string>): Promise<string[]>;
}

export type MakeCourse = (options?: { of?: Registration; fault?: Fault }) => Promise<Course>;

/** Makes courses of a tenant; `usual`: the registration that launches, unless another is named. */
export function coursesOf(tenant: TestTenant, usual: () => Registration): MakeCourse {
  let courses = 0;
  return async ({ of = usual(), fault = {} } = {}) => {
    const lmsId = `items-${(courses += 1)}`;
    const { api } = await launched(tenant, of, { course: { id: lmsId, title: lmsId } }, fault);
    const { data } = (await api.get('/lti/contexts')).body;
    const { id } = data.find((context: { lms_id: string }) => context.lms_id === lmsId);
    const items = `/lti/contexts/${id}/line-items`;
    return {
      api,
      lmsId,
      id,
      items,
      make: async (more = {}) => {
        const reply = await api.post(items, { ...ITEM, ...more });
        if (reply.status !== 201) throw new Error(`no line item: ${reply.status} ${JSON.stringify(reply.body)}`);
        return reply.body;
      },
      labels: async (query = {}) => (await all(api, items, query)).map(({ label }) => label),
    };
  };
}

/** All pages of a list. */
export async function all(api: Api, path: string, query: Record<string, string>): Promise<{ id: string; label: string }[]> {
  const found: { id: string; label: string }[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const reply: ApiReply = await api.get(path, { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } });
    if (reply.status !== 200) throw new Error(`no list: ${reply.status} ${JSON.stringify(reply.body)}`);
    found.push(...reply.body.data);
    cursor = reply.body.pagination.next_cursor;
  }
  return found;
}
