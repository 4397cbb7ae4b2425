import { z } from 'zod';
import type { Actor } from '../../api/actor.ts';
import type { Reply, RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Sessions } from '../../identity/sessions.service.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { GenerationCache } from '../../store/redis/generation.ts';
import type { Files } from '../files/files.service.ts';
import type { Downloads } from './downloads.service.ts';

/** Lifetime of a ticket (design: Sign-in). */
export const TICKET_SECONDS = 60;

const Ticket = z.object({ file: z.uuid(), user: z.uuid(), session: z.uuid(), until: z.int() });

/**
 * Tickets: the address of one file for a minute, for what carries no Authorization header (a link in a frame, a player).
 *
 * Invariants:
 * - A ticket gives what its session may read at the moment of use: it ends with the session, the person's account and their permission.
 * - It is sealed under the tenant's data key, so nobody can make, change or read one, and no other tenant opens it.
 * - A download by it counts against the limits of that person, like one by token.
 * - One that does not hold, for whatever reason, looks like one that never existed.
 */
export class Tickets {
  readonly #files: Files;
  readonly #downloads: Downloads;
  readonly #sessions: Sessions;
  readonly #cache: GenerationCache;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #tenantId: string;

  constructor(deps: {
    files: Files;
    downloads: Downloads;
    sessions: Sessions;
    cache: GenerationCache;
    sealer: Sealer;
    clock: Clock;
    tenantId: string;
  }) {
    this.#files = deps.files;
    this.#downloads = deps.downloads;
    this.#sessions = deps.sessions;
    this.#cache = deps.cache;
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#tenantId = deps.tenantId;
  }

  /** A ticket for a file that the actor may read. No statement when that is warm. Throws `not_found`. */
  async issue(actor: Actor, fileId: string): Promise<string> {
    const file = await this.#files.read(actor, fileId);
    const until = this.#clock.now().getTime() + TICKET_SECONDS * 1000;
    const ticket: z.output<typeof Ticket> = { file: file.uuid, user: actor.userUuid, session: actor.sessionId, until };
    return this.#sealer.seal(JSON.stringify(ticket), this.#place());
  }

  /** The file's content, as `Downloads.open` gives it. Throws `not_found`, `range_not_satisfiable`, `too_many_transfers`. */
  async open(sealed: string, request: RequestInfo): Promise<Reply> {
    const ticket = this.#opened(sealed);
    if (!ticket) throw noSuchTicket();
    const claims = { userUuid: ticket.user, sessionId: ticket.session, roles: [], launchId: undefined, expiresAt: ticket.until / 1000 };
    try {
      const actor = await this.#sessions.actor(claims, await this.#cache.lookup(this.#sessions.entry(claims)));
      if (actor.permissions.has('read:files')) return await this.#downloads.open(actor, ticket.file, request);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'unauthenticated') throw error;
    }
    throw noSuchTicket();
  }

  /** The person who had the ticket made, while it holds; asks no store. */
  holder(sealed: string): string | undefined {
    return this.#opened(sealed)?.user;
  }

  #opened(sealed: string): z.output<typeof Ticket> | undefined {
    try {
      const ticket = Ticket.parse(JSON.parse(this.#sealer.open(sealed, this.#place())));
      if (ticket.until > this.#clock.now().getTime()) return ticket;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
    return undefined;
  }

  #place(): string[] {
    return [this.#tenantId, 'files', 'download', 'ticket'];
  }
}

const noSuchTicket = (): Problem =>
  new Problem('not_found', `There is no such ticket, or its ${TICKET_SECONDS} s are over. Ask for a new one.`);
