import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import type { WhichLineItem } from '../line-items/line-items.service.ts';
import { ASCII_ID } from '../launch/id-token.ts';
import { peopleBySubject } from '../members/people.sql.ts';
import { findLineItem } from '../line-items/line-items.sql.ts';
import { addressBelow } from '../services/address-below.ts';
import type { CourseServices } from '../services/course-services.ts';
import type { LmsCalls } from '../services/lms-calls.ts';
import { lmsPage } from '../services/lms-pages.ts';
import { type LmsResult, resultOf, RESULTS } from './lms-result.ts';
import type { ResultQuery, ResultView } from './results.schema.ts';

/** Reads results of the LMS's grade book on request (docs/design/lti.md, Courses and services). */
export class Results {
  readonly #db: Database;
  readonly #sealer: Sealer;
  readonly #calls: LmsCalls;
  readonly #services: CourseServices;

  constructor(deps: { db: Database; sealer: Sealer; calls: LmsCalls; services: CourseServices }) {
    this.#db = deps.db;
    this.#sealer = deps.sealer;
    this.#calls = deps.calls;
    this.#services = deps.services;
  }

  /** Takes four statements. Throws Problem. */
  async list(
    actor: Actor,
    { context: contextId, id }: WhichLineItem,
    query: ResultQuery,
    signal: AbortSignal,
  ): Promise<Page<ResultView>> {
    const context = await requireTaught(this.#db.tables, actor, contextId);
    const row = await findLineItem(this.#db.tables, context.groupId, id);
    if (!row) throw new Problem('not_found');
    const operation = await this.#services.results(context, row, signal);
    const { user_id } = query;
    const read = (item: unknown): LmsResult | undefined => {
      const result = resultOf(item);
      return user_id === undefined || result.userId === user_id ? result : undefined;
    };
    const url = addressBelow(row.url, 'results');
    const list = { url, mediaType: RESULTS, asked: 'item', query: { user_id }, read, of: [row.uuid, user_id ?? ''] } as const;
    const page = await lmsPage({ calls: this.#calls, sealer: this.#sealer }, operation, list, query);
    return { ...page, data: await this.#presented(context.platformId, page.data) };
  }

  async #presented(platformId: number | null, results: readonly LmsResult[]): Promise<ResultView[]> {
    const subjects = results.map(({ userId }) => userId).filter((userId) => ASCII_ID.test(userId));
    const bySubject = await peopleBySubject(this.#db, platformId, subjects);
    return results.map(({ userId, score, maximum, comment, scoredAt }) => ({
      user_id: userId,
      user: bySubject.get(userId) ?? null,
      result_score: score,
      result_maximum: maximum,
      comment,
      ...(scoredAt === null ? {} : { scored_at: scoredAt }),
    }));
  }
}
