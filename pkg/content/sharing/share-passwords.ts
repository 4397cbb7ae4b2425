import type { Passwords } from '../../accounts/passwords.ts';
import type { LoginAttempt, LoginThrottle } from '../../accounts/sign-in/login-throttle.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { OpenShare } from './open-shares.sql.ts';

const WINDOW_SECONDS = 900;
/** Wrong passwords that one network may send for a link; further attempts get 429. */
const FAILURES_PER_NETWORK = 10;
/** Wrong passwords that all networks together may send for a link before further attempts are delayed. */
const UNDELAYED_FAILURES = 100;

/**
 * Checks the passwords of share links.
 *
 * Invariant: a password is compared only while its network has attempts left; after that even the right one is refused. Many
 * wrong passwords from many networks delay further attempts but never block the link.
 */
export class SharePasswords {
  readonly #passwords: () => Passwords;
  readonly #throttle: LoginThrottle;

  constructor(deps: { passwords: () => Passwords; throttle: LoginThrottle }) {
    this.#passwords = deps.passwords;
    this.#throttle = deps.throttle;
  }

  /**
   * Returns if the link has no password or if this is its password. Throws `share_password_required`, `share_password_wrong`,
   * `too_many_attempts`.
   */
  async require(
    { uuid, passwordHash }: Pick<OpenShare, 'uuid' | 'passwordHash'>,
    password: string | undefined,
    { network, signal }: Pick<RequestInfo, 'network' | 'signal'>,
  ): Promise<void> {
    if (passwordHash === null) return;
    if (password === undefined || password === '') throw new Problem('share_password_required');
    const compare = async (): Promise<true | undefined> => (await this.#passwords().verify(passwordHash, password)) || undefined;
    const matches = await this.#throttle.guard(attempt(uuid, network, signal), compare);
    if (!matches) throw new Problem('share_password_wrong');
  }
}

function attempt(share: string, network: string, signal: AbortSignal): LoginAttempt {
  const networkLimit = { key: `share:${share}:${network}`, max: FAILURES_PER_NETWORK, windowSeconds: WINDOW_SECONDS };
  const totalLimit = { key: `share:${share}`, max: Number.MAX_SAFE_INTEGER, windowSeconds: WINDOW_SECONDS };
  return { limits: [networkLimit, totalLimit], delayedBy: totalLimit.key, undelayed: UNDELAYED_FAILURES, signal };
}
