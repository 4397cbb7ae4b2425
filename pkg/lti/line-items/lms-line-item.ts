import { etagOf } from '../../api/etag.ts';
import { invalid } from '../../api/problem.ts';
import { unusable } from '../services/lms-problems.policy.ts';
import { addressAtHost } from '../services/next-link.policy.ts';
import type { LineItemQuery, LineItemView, NewLineItem } from './line-items.schema.ts';

/** The media types of AGS 2.0 §3.2. */
export const LINE_ITEM = 'application/vnd.ims.lis.v2.lineitem+json';
export const LINE_ITEMS = 'application/vnd.ims.lis.v2.lineitemcontainer+json';

/** A line item as the LMS sent it. */
export interface LmsLineItem {
  readonly url: string;
  /** All its fields, including those that Carrel does not know. */
  readonly members: Readonly<Record<string, unknown>>;
}

const SHOWN_MAX = 1_000;

/**
 * Reads a line item. `service`: the address of the service; the line item must be at the same host. `isNew`: the LMS was asked to
 * create it. Throws Problem `lms_failed`.
 */
export function lineItemOf(body: unknown, service: string, { isNew = false } = {}): LmsLineItem {
  const members = membersOf(body);
  const url = typeof members?.['id'] === 'string' ? addressAtHost(members['id'], service) : undefined;
  if (!members || url === undefined) throw unusable('a line item has no address, or one at another host', isNew);
  return { url, members };
}

/** Returns undefined if the body is not an object. */
export const membersOf = (body: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : undefined;

/** Returns whether the line item matches the request: not every LMS applies the filters. */
export const isWanted = ({ members }: LmsLineItem, { resource_id, tag, resource_link_id }: Partial<LineItemQuery>): boolean =>
  (resource_id === undefined || textOf(members['resourceId']) === resource_id) &&
  (tag === undefined || textOf(members['tag']) === tag) &&
  (resource_link_id === undefined || textOf(members['resourceLinkId']) === resource_link_id);

/** Returns the fields for creating a line item. */
export const newMembers = (input: NewLineItem): Readonly<Record<string, unknown>> => ({
  label: input.label,
  scoreMaximum: input.score_maximum,
  ...(input.resource_id === undefined ? {} : { resourceId: input.resource_id }),
  ...(input.tag === undefined ? {} : { tag: input.tag }),
  ...(input.resource_link_id === undefined ? {} : { resourceLinkId: input.resource_link_id }),
  ...(input.start_at === undefined ? {} : { startDateTime: input.start_at }),
  ...(input.end_at === undefined ? {} : { endDateTime: input.end_at }),
});

const OURS = new Set(['label', 'scoreMaximum', 'resourceId', 'tag', 'startDateTime', 'endDateTime']);

/**
 * Returns the fields for changing a line item. A PUT replaces everything (AGS 2.0 §3.2.7), so unknown fields go back unchanged,
 * and so does the link, which cannot be changed. Throws Problem `validation_failed` for another link.
 */
export function changedMembers({ members }: LmsLineItem, input: NewLineItem): Readonly<Record<string, unknown>> {
  if (input.resource_link_id !== undefined && input.resource_link_id !== textOf(members['resourceLinkId']))
    throw invalid('resource_link_id', 'cannot be changed');
  const others = Object.entries(members).filter(([name]) => !OURS.has(name));
  const { resourceLinkId: _, ...ours } = newMembers(input);
  return { ...Object.fromEntries(others), ...ours };
}

export function presentLineItem(id: string, { url, members }: LmsLineItem): LineItemView {
  const sorted = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    id,
    url,
    label: textOf(members['label']) ?? '',
    score_maximum: numberOf(members['scoreMaximum']),
    resource_id: textOf(members['resourceId']),
    tag: textOf(members['tag']),
    resource_link_id: textOf(members['resourceLinkId']),
    start_at: timeOf(members['startDateTime']),
    end_at: timeOf(members['endDateTime']),
    etag: etagOf('line_item', id, JSON.stringify(sorted)),
  };
}

/** Some LMSs send numbers as ids, and "" instead of no value. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, SHOWN_MAX).toWellFormed() : null;
}

/** Some LMSs send numbers as text. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Returns a time that our replies can show; null for anything else. */
export function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999 || time.getUTCFullYear() < 0
    ? null
    : time.toISOString();
}
