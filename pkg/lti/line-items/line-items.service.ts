import type { Actor } from '../../api/actor.ts';
import { requireMatch } from '../../api/etag.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import type { CourseServices } from '../services/course-services.ts';
import type { LmsCalls, Operation } from '../services/lms-calls.ts';
import { unusable } from '../services/lms-problems.policy.ts';
import { lmsPage } from '../services/lms-pages.ts';
import type { LineItemQuery, LineItemView, NewLineItem } from './line-items.schema.ts';
import { endChange, endDeletion } from './line-item-changes.sql.ts';
import { LineItemChanges } from './line-item-changes.ts';
import { findLineItem, type InCourse, lineItemIds, type LineItemRow } from './line-items.sql.ts';
import {
  changedMembers,
  isWanted,
  LINE_ITEM,
  LINE_ITEMS,
  lineItemOf,
  type LmsLineItem,
  membersOf,
  newMembers,
  presentLineItem,
} from './lms-line-item.ts';

type IfMatch = readonly string[] | '*' | undefined;

/** Identifies one line item of a course. */
export interface WhichLineItem {
  readonly context: string;
  readonly id: string;
}

/**
 * Line items of the LMS's grade book (docs/design/lti.md, Courses and services). The LMS stores them; Carrel stores an id for
 * each address that the LMS named.
 *
 * Invariants:
 * - A person who may not see the course learns nothing about its line items, and an id of one course is invalid in another.
 * - One address of a course has one id, even if several requests read it at once.
 * - A change sends back every field that the LMS has for the line item and that Carrel does not know.
 * - A change that the LMS has made for a person has one entry in the audit log. If Postgres is then unavailable for long, or the
 *   server dies, the entry later says what was requested, and that the outcome is unknown (overdue-changes.ts). A refused change
 *   has no entry.
 */
export class LineItems {
  readonly #db: Database;
  readonly #random: Random;
  readonly #sealer: Sealer;
  readonly #calls: LmsCalls;
  readonly #services: CourseServices;
  readonly #changes: LineItemChanges;

  constructor(deps: { db: Database; random: Random; sealer: Sealer; calls: LmsCalls; services: CourseServices; clock: Clock }) {
    this.#db = deps.db;
    this.#changes = new LineItemChanges(deps);
    this.#random = deps.random;
    this.#sealer = deps.sealer;
    this.#calls = deps.calls;
    this.#services = deps.services;
  }

  /** Takes three statements, or five if one of the line items is new. Throws Problem. */
  async list(actor: Actor, contextId: string, query: LineItemQuery, signal: AbortSignal): Promise<Page<LineItemView>> {
    const context = await requireTaught(this.#db.tables, actor, contextId);
    const { url, toolId, operation } = await this.#services.lineItems(context, 'read', signal);
    const { limit, cursor, ...filters } = query;
    const { resource_id, tag, resource_link_id } = filters;
    const read = (item: unknown): LmsLineItem | undefined => {
      const one = lineItemOf(item, url);
      return isWanted(one, filters) ? one : undefined;
    };
    const list = {
      url,
      mediaType: LINE_ITEMS,
      asked: 'course',
      query: { resource_id, tag, resource_link_id },
      read,
      of: [context.uuid, JSON.stringify(filters)],
    } as const;
    const page = await lmsPage({ calls: this.#calls, sealer: this.#sealer }, operation, list, { limit, cursor });
    return { ...page, data: await this.#presented({ groupId: context.groupId, toolId }, page.data) };
  }

  /** Takes six statements. Throws Problem. */
  async create(actor: Actor, contextId: string, input: NewLineItem): Promise<LineItemView> {
    const context = await requireTaught(this.#db.tables, actor, contextId);
    const { url, toolId, operation } = await this.#services.lineItems(context, 'write');
    const asked = input.resource_link_id === undefined ? 'course' : 'link';
    const request = { method: 'POST', url, asked, accept: LINE_ITEM, type: LINE_ITEM, body: newMembers(input) } as const;
    const of = { context_id: context.uuid };
    const wanted = presentLineItem('', { url, members: request.body });
    const change = { what: 'create', id: null, label: wanted.label, before: {}, after: { ...of, ...shownOf(wanted) } } as const;
    const { key, answer } = await this.#changes.ask(change, () => this.#calls.request(operation, request));
    const item = lineItemOf(answer.body, url, { isNew: true });
    const [view] = await this.#changes.record(() => this.#presented({ groupId: context.groupId, toolId }, [item]));
    if (!view) throw new Error('a line item has no id');
    const made = { ...change, id: view.id, label: view.label, after: { ...of, ...shownOf(view) } };
    await this.#changes.record(() => endChange(this.#db.tables, key, made));
    return view;
  }

  /** Takes three statements. Throws Problem. */
  async get(actor: Actor, which: WhichLineItem, signal: AbortSignal): Promise<LineItemView> {
    const { row, operation } = await this.#one(actor, which, 'read', signal);
    return presentLineItem(row.uuid, await this.#read(operation, row));
  }

  /** Reads the line item first, so that unknown fields are sent back. Five statements. Throws Problem. */
  async replace(actor: Actor, which: WhichLineItem, input: NewLineItem, ifMatch: IfMatch): Promise<LineItemView> {
    const { row, operation } = await this.#one(actor, which, 'write');
    const before = await this.#read(operation, row);
    const former = presentLineItem(row.uuid, before);
    requireMatch(ifMatch, former.etag);
    const members = changedMembers(before, input);
    const request = { method: 'PUT', url: row.url, asked: 'item', accept: LINE_ITEM, type: LINE_ITEM, body: members } as const;
    const wanted = presentLineItem(row.uuid, { url: row.url, members });
    const change = {
      what: 'update',
      id: row.uuid,
      label: wanted.label,
      before: shownOf(former),
      after: shownOf(wanted),
    } as const;
    const { key, answer } = await this.#changes.ask(change, () => this.#calls.request(operation, request));
    const view = presentLineItem(row.uuid, { url: row.url, members: membersOf(answer.body) ?? members });
    await this.#changes.record(() => endChange(this.#db.tables, key, { ...change, label: view.label, after: shownOf(view) }));
    return view;
  }

  /** Takes five statements. A line item that the LMS no longer has counts as deleted. Throws Problem. */
  async remove(actor: Actor, which: WhichLineItem, ifMatch: IfMatch): Promise<void> {
    const { row, operation } = await this.#one(actor, which, 'write');
    if (ifMatch !== undefined) requireMatch(ifMatch, presentLineItem(row.uuid, await this.#read(operation, row)).etag);
    const of = { before: { context_id: which.context }, after: { context_id: null } };
    const { key } = await this.#changes.ask({ what: 'delete', id: row.uuid, label: null, ...of }, () =>
      this.#delete(operation, row),
    );
    await this.#changes.record(() => endDeletion(this.#db.tables, key, row.id));
  }

  async #delete(operation: Operation, { url }: LineItemRow): Promise<void> {
    await this.#calls.request(operation, { method: 'DELETE', url, asked: 'item' }).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    });
  }

  async #one(
    actor: Actor,
    { context: contextId, id }: WhichLineItem,
    access: 'read' | 'write',
    signal?: AbortSignal,
  ): Promise<{ row: LineItemRow; operation: Operation }> {
    const context = await requireTaught(this.#db.tables, actor, contextId);
    const row = await findLineItem(this.#db.tables, context.groupId, id);
    if (!row) throw new Problem('not_found');
    return { row, operation: await this.#services.lineItem(context, row, access, signal) };
  }

  async #read(operation: Operation, { url }: LineItemRow): Promise<LmsLineItem> {
    const { body } = await this.#calls.request(operation, { method: 'GET', url, asked: 'item', accept: LINE_ITEM });
    const members = membersOf(body);
    if (!members) throw unusable('it is not a line item');
    return { url, members };
  }

  async #presented(course: InCourse, items: readonly LmsLineItem[]): Promise<LineItemView[]> {
    const ids = await lineItemIds(
      this.#db.tables,
      course,
      items.map(({ url }) => url),
      () => this.#random.uuid(),
    );
    return items.flatMap((item) => {
      const id = ids.get(item.url);
      return id === undefined ? [] : [presentLineItem(id, item)];
    });
  }
}

/** The fields that an entry of the audit log shows. */
const shownOf = ({ id: _id, url: _url, etag: _etag, ...shown }: LineItemView): Readonly<Record<string, unknown>> => shown;
