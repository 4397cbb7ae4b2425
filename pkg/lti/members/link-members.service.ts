import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import type { CourseServices } from '../services/course-services.ts';
import type { LmsCalls } from '../services/lms-calls.ts';
import { lmsPage } from '../services/lms-pages.ts';
import type { LinkMemberQuery, LinkMemberView } from './members.schema.ts';
import { peopleBySubject } from './people.sql.ts';
import { CONTAINER, entriesOf } from './read-roster.ts';
import { memberOf, type RosterMember } from './roster-member.policy.ts';

/** Lists the people of one link by asking the LMS. Nothing is stored: people missing from this list are still in the course. */
export class LinkMembers {
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

  /** Takes three statements. Throws Problem. */
  async list(actor: Actor, contextId: string, query: LinkMemberQuery, signal: AbortSignal): Promise<Page<LinkMemberView>> {
    const context = await requireTaught(this.#db.tables, actor, contextId);
    const { url, operation } = await this.#services.roster(context, signal);
    const { resource_link_id: rlid, role } = query;
    const read = (entry: unknown): RosterMember | undefined => {
      const member = memberOf(entry);
      return typeof member === 'object' && (role === undefined || member.role === role) ? member : undefined;
    };
    const items = (body: unknown): readonly unknown[] => entriesOf(body, context.lmsId);
    const list = {
      url,
      mediaType: CONTAINER,
      asked: 'link',
      query: { rlid },
      items,
      read,
      of: [context.uuid, rlid, role ?? ''],
    } as const;
    const page = await lmsPage({ calls: this.#calls, sealer: this.#sealer }, operation, list, query);
    return { ...page, data: await this.#presented(context.platformId, page.data) };
  }

  async #presented(platformId: number | null, members: readonly RosterMember[]): Promise<LinkMemberView[]> {
    const people = await peopleBySubject(
      this.#db,
      platformId,
      members.map(({ subject }) => subject),
    );
    return members.map(({ subject, name, email, roles, role, is_active }) => ({
      lms_user_id: subject,
      user: people.get(subject) ?? null,
      name,
      email,
      roles: [...roles],
      role,
      status: is_active ? 'active' : 'inactive',
    }));
  }
}
