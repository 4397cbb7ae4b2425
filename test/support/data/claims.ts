import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { ClaimRequest, Owner } from '../../../pkg/store/postgres/registry.ts';

/** Claims of slugs and hosts in the registry. */

export const newSlug = (): string => `t-${systemRandom.hex(5)}`;

export const ownerOf = (name: string, namespaceUid = 'uid-1'): Owner => ({ namespace: 'schools', namespaceUid, name });

export const request = (slug: string, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
  slug,
  owner: ownerOf(slug),
  hosts: [`${slug}.localhost`, `lti.${slug}.localhost`],
  shards: ['main'],
  ...more,
});

/** Counts the claims that won, and the refusals of the others by reason. */
export const tally = (results: PromiseSettledResult<unknown>[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const result of results) {
    const key = result.status === 'fulfilled' ? 'won' : (result.reason as Error).name;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};
