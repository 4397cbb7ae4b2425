import type { RosterSkipReason } from '../../tasks/tasks.schema.ts';
import { membersOf, textOf } from '../line-items/lms-line-item.ts';
import type { LmsAnswer, LmsCalls, Operation } from '../services/lms-calls.ts';
import { withQuery } from '../services/lms-pages.ts';
import { unusable } from '../services/lms-problems.policy.ts';
import { addressAtHost, nextPage } from '../services/next-link.policy.ts';
import { PAGES_MAX } from './roster-limits.ts';
import { memberOf, type RosterMember } from './roster-member.policy.ts';

export const CONTAINER = 'application/vnd.ims.lti-nrps.v2.membershipcontainer+json';

/** Requested page size; LMSs return fewer. */
const PAGE_MEMBERS = 500;

/** The entries of a page, in its order. */
export interface RosterPage {
  readonly members: readonly RosterMember[];
  readonly skipped: readonly RosterSkipReason[];
}

/** The address of a roster, and the LMS's own id of its course. */
export interface RosterAt {
  readonly url: string;
  readonly lmsId: string;
}

/**
 * Yields the pages of a roster (NRPS 2.0 §2.4). Ends after the last page was read completely, and throws Problem otherwise. Each
 * page must be a list of this course, and the next one must be at the host of the first.
 */
export async function* rosterPages(calls: LmsCalls, operation: Operation, { url, lmsId }: RosterAt): AsyncGenerator<RosterPage> {
  const seen = new Set<string>();
  for (let address: string | undefined = withQuery(url, { limit: String(PAGE_MEMBERS) }); address !== undefined;) {
    if (seen.has(address)) throw unusable('its pages form a loop');
    if (seen.size === PAGES_MAX) throw unusable(`its list of members has more than ${PAGES_MAX} pages`);
    seen.add(address);
    const answer = await calls.request(operation, { method: 'GET', url: address, asked: 'course', accept: CONTAINER });
    yield pageOf(answer, lmsId);
    address = following(answer, address, url);
  }
}

/** Returns the entries of a page of the course (NRPS 2.0 §2.2). Throws Problem. */
export function entriesOf(body: unknown, lmsId: string): readonly unknown[] {
  const container = membersOf(body);
  const entries: unknown = container?.['members'];
  if (!container || !Array.isArray(entries)) throw unusable('it is not a list of members');
  const course = textOf(membersOf(container['context'])?.['id']);
  if (course !== null && course !== lmsId) throw unusable('it is a list of another course');
  return entries;
}

function pageOf({ body }: LmsAnswer, lmsId: string): RosterPage {
  const read = entriesOf(body, lmsId).map(memberOf);
  return {
    members: read.filter((member) => typeof member === 'object'),
    skipped: read.filter((member) => typeof member === 'string'),
  };
}

/** Returns undefined after the last page. */
function following({ headers }: LmsAnswer, here: string, first: string): string | undefined {
  const next = nextPage(headers['link'], here);
  if (next === undefined) return undefined;
  const address = addressAtHost(next, first);
  if (address === undefined) throw unusable('its next page is at another host, or has no valid address');
  return address;
}
