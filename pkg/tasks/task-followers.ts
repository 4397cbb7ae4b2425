import { Readable } from 'node:stream';
import type { Sessions } from '../access/sessions.ts';
import type { Actor } from '../api/actor.ts';
import { Problem } from '../api/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import type { TaskView } from './tasks.schema.ts';
import { MINUTE_MS } from '../runtime/time.ts';

/** The most streams of one person on one server: each costs one statement per second. */
const FOLLOWED_AT_ONCE = 5;
const LOOK_EVERY_MS = 1_000;
/** A comment at this interval keeps proxies, and the limit of silence, from ending the connection. */
const COMMENT_EVERY_MS = 15_000;
/** A stream ends after this time. The client reconnects, as clients of event streams must. */
const LONGEST_MS = 10 * MINUTE_MS;

/** Streams tasks as server-sent events: the task as it is, and again whenever it has changed, until it has ended. */
export class TaskFollowers {
  readonly #sessions: Sessions;
  readonly #clock: Clock;
  readonly #following = new Map<string, number>();

  constructor(deps: { sessions: Sessions; clock: Clock }) {
    this.#sessions = deps.sessions;
    this.#clock = deps.clock;
  }

  /**
   * Streams a task. `read` returns the task as the actor sees it; its errors end the stream, and so does the end of the session.
   * Throws `rate_limit_exceeded`.
   */
  follow(actor: Actor, first: TaskView, read: (actor: Actor) => Promise<TaskView>, signal: AbortSignal): Readable {
    const { userUuid } = actor;
    const others = this.#following.get(userUuid) ?? 0;
    if (others >= FOLLOWED_AT_ONCE)
      throw new Problem('rate_limit_exceeded', `You already follow ${FOLLOWED_AT_ONCE} jobs; end one of these requests.`, {
        retryAfter: 5,
      });
    this.#following.set(userUuid, others + 1);
    const gone = new AbortController();
    const stream = Readable.from(this.#events(actor, first, read, AbortSignal.any([signal, gone.signal])), { objectMode: false });
    stream.once('close', () => {
      gone.abort();
      const left = (this.#following.get(userUuid) ?? 1) - 1;
      if (left > 0) this.#following.set(userUuid, left);
      else this.#following.delete(userUuid);
    });
    return stream;
  }

  async *#events(
    actor: Actor,
    first: TaskView,
    read: (actor: Actor) => Promise<TaskView>,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    const end = this.#clock.monotonic() + LONGEST_MS;
    let sent = '';
    let sentAt = this.#clock.monotonic();
    for (let task: TaskView | undefined = first; task !== undefined; task = await this.#next(actor, read, signal)) {
      const text = JSON.stringify(task);
      const isDue = this.#clock.monotonic() - sentAt >= COMMENT_EVERY_MS;
      if (text !== sent || isDue) {
        yield Buffer.from(text === sent ? ':\n\n' : `data: ${text}\n\n`);
        [sent, sentAt] = [text, this.#clock.monotonic()];
      }
      if (task.ended_at !== null || this.#clock.monotonic() > end) return;
    }
  }

  /**
   * Returns the task a little later. Returns undefined if the client or the session has gone, or a store is unavailable: a client
   * that reconnects gets that error.
   */
  async #next(actor: Actor, read: (actor: Actor) => Promise<TaskView>, signal: AbortSignal): Promise<TaskView | undefined> {
    try {
      await this.#clock.sleep(LOOK_EVERY_MS, signal);
      return await read(await this.#sessions.authenticate(actor));
    } catch (error) {
      if (signal.aborted || error instanceof Problem || error instanceof StoreUnavailableError) return undefined;
      throw error;
    }
  }
}
