import type { Tokens } from './client.ts';
import { Observed } from './observed.ts';
import type { SignedIn, User } from './operations.generated.ts';
import { ApiProblem, problemOf, problemOfReply, unreachable } from './problem.ts';

/** Seconds before its end at which an access token is renewed. */
const RENEW_BEFORE_SECONDS = 60;

/**
 * - `starting`: not known yet. The browser may have the cookie of a session.
 * - `signed-out`: nobody is signed in.
 * - `signed-in`: requests have a token.
 * - `ended`: the session ended while the person used the page; requests wait until they sign in again.
 */
export type SessionState =
  | { readonly name: 'starting' | 'signed-out' }
  | { readonly name: 'signed-in' | 'ended'; readonly user: User };

export interface SessionDeps {
  /** Sends a request below /api/v1/auth with the browser's cookie. Rejects if no server answered. */
  readonly send: (path: string, body: unknown, token: string | undefined) => Promise<Response>;
  /** Runs one task at a time among all tabs of this browser. */
  readonly alone: <T>(task: () => Promise<T>) => Promise<T>;
  /** Called when somebody has signed in here: other tabs may use the session. */
  readonly onSignIn: (userId: string) => void;
  /** Called when the person signed out here: the session of the other tabs has ended too. */
  readonly onSignOut: () => void;
  /** Called when the cookie turned out to be another person's: what the page shows is no longer theirs. */
  readonly onOtherPerson: () => void;
  readonly now: () => number;
}

interface Token {
  readonly text: string;
  /** As `now`. */
  readonly endsAt: number;
}

interface Waiter {
  readonly resolve: (token: string | undefined) => void;
}

/**
 * The session of the person who is signed in. The access token is in memory only; the refresh token is a cookie that scripts
 * cannot read, and works once, so tabs renew one after the other.
 */
export class Session implements Tokens {
  readonly state = new Observed<SessionState>({ name: 'starting' });
  /** True: the last session ended because the person wished so. */
  isSignOutWished = false;
  readonly #deps: SessionDeps;
  readonly #waiters = new Set<Waiter>();
  #token: Token | undefined;
  #renewal: Promise<string | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #start: Promise<void> | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /**
   * Opens the session that the browser's cookie belongs to, if there is one. Asks once, however often it is called. Throws
   * ApiProblem if no server answers; the next call then asks again.
   */
  start(): Promise<void> {
    this.#start ??= this.#renew().then(
      (token) => {
        if (token === undefined && this.state.value.name === 'starting') this.state.set({ name: 'signed-out' });
      },
      (error: unknown) => {
        this.#start = undefined;
        throw error;
      },
    );
    return this.#start;
  }

  /** Throws ApiProblem `invalid_credentials`, `too_many_attempts` … */
  async signIn(email: string, password: string): Promise<void> {
    const reply = await this.#send('/login', { email, password, cookie: true });
    if (!reply.ok) throw await problemOfReply(reply);
    const signedIn = (await reply.json()) as SignedIn;
    this.#open(signedIn);
    this.#deps.onSignIn(signedIn.user.id);
  }

  /** Ends the session on the server, and on this page even if no server answers. */
  async signOut(): Promise<void> {
    const token = this.#token?.text;
    try {
      const reply = await this.#send('/logout', {}, token);
      // 401: the session had already ended.
      if (!reply.ok && reply.status !== 401) throw await problemOfReply(reply);
    } finally {
      this.leave();
      this.#deps.onSignOut();
    }
  }

  /** Forgets the session: requests that wait for it fail. `isWished`: the person signs out. */
  leave({ isWished = true } = {}): void {
    this.#drop();
    this.isSignOutWished = isWished;
    this.state.set({ name: 'signed-out' });
    this.#resume(undefined);
  }

  /** Another tab has ended the session. What this page holds stays; the person can sign in again. */
  endedElsewhere(): void {
    if (this.state.value.name === 'signed-in') this.#end();
  }

  /** Somebody has signed in in another tab: a page that nobody uses, or whose session has ended for that person, goes on. */
  signedInElsewhere(userId: string): void {
    const { value } = this.state;
    const isTheirs = value.name === 'signed-out' || (value.name === 'ended' && value.user.id === userId);
    // If no server answers, the person signs in here too.
    if (isTheirs) void this.#renew().catch(() => undefined);
  }

  async current(): Promise<string | undefined> {
    const { name } = this.state.value;
    if (name === 'signed-out') return undefined;
    if (name === 'ended') return this.#signedInAgain();
    if (this.#token && this.#token.endsAt > this.#deps.now()) return this.#token.text;
    return (await this.#renew()) ?? this.#signedInAgain();
  }

  async renewed(refused: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const { name } = this.state.value;
    if (name === 'signed-out') return undefined;
    if (name === 'ended') return this.#signedInAgain(signal);
    if (this.#token && this.#token.text !== refused) return this.#token.text;
    return (await this.#renew()) ?? this.#signedInAgain(signal);
  }

  /** Renews the token; requests that ask meanwhile share it. Resolves to undefined if the session has ended. */
  #renew(): Promise<string | undefined> {
    this.#renewal ??= this.#deps
      .alone(() => this.#refresh())
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  async #refresh(): Promise<string | undefined> {
    const reply = await this.#send('/refresh', {});
    if (reply.ok) {
      this.#open((await reply.json()) as SignedIn);
      return this.#token?.text;
    }
    const problem = await problemOfReply(reply);
    if (problem.code !== 'invalid_refresh_token' && problem.code !== 'session_expired') throw problem;
    if (this.state.value.name === 'signed-in') this.#end();
    return undefined;
  }

  #open({ access_token, expires_in, user }: SignedIn): void {
    const { value } = this.state;
    if ('user' in value && value.user.id !== user.id) {
      this.leave({ isWished: false });
      this.#deps.onOtherPerson();
      return;
    }
    const seconds = Math.max(expires_in - RENEW_BEFORE_SECONDS, 1);
    this.#token = { text: access_token, endsAt: this.#deps.now() + seconds * 1_000 };
    clearTimeout(this.#timer);
    // If nobody answers, the next request tries again and says so.
    this.#timer = setTimeout(() => void this.#renew().catch(() => undefined), seconds * 1_000);
    this.state.set({ name: 'signed-in', user });
    this.#resume(access_token);
  }

  #end(): void {
    const { value } = this.state;
    this.#drop();
    if ('user' in value) this.state.set({ name: 'ended', user: value.user });
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#token = undefined;
  }

  /** Waits until the person has signed in again, or has left. */
  #signedInAgain(signal?: AbortSignal): Promise<string | undefined> {
    if (this.state.value.name !== 'ended') return Promise.resolve(this.#token?.text);
    return new Promise((resolve, reject) => {
      const waiter = { resolve };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', () => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      });
    });
  }

  #resume(token: string | undefined): void {
    for (const { resolve } of this.#waiters) resolve(token);
    this.#waiters.clear();
  }

  async #send(path: string, body: unknown, token?: string): Promise<Response> {
    try {
      return await this.#deps.send(path, body, token);
    } catch (error) {
      throw error instanceof ApiProblem ? problemOf(error) : unreachable(error);
    }
  }
}
