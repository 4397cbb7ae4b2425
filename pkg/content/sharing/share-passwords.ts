import type { Passwords } from '../../accounts/passwords.ts';
import type { LoginAttempt, LoginThrottle } from '../../accounts/sign-in/login-throttle.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { OpenShare } from './open-shares.sql.ts';

const WINDOW_SECONDS = 900;
/** Wrong passwords for one link from one network; further attempts get 429. */
const FAILURES_PER_NETWORK = 10;
/** Wrong passwords for one link from all networks after which further attempts are slowed. */
const UNDELAYED_FAILURES = 100;

/**
 * Passwords of share links.
 *
 * Invariant: a password is compared only while the network has attempts left; the right one does not help after that. Many wrong
 * ones slow a link and do not shut it.
 */
export class SharePasswords {
  readonly #passwords: () => Passwords;
  readonly #throttle: LoginThrottle;

  constructor(deps: { passwords: () => Passwords; throttle: LoginThrottle }) {
    this.#passwords = deps.passwords;
    this.#throttle = deps.throttle;
  }

  /**
   * Returns where the link has no password, or this one. Throws `share_password_required`, `share_password_wrong`,
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
  const ofNetwork = { key: `share:${share}:${network}`, max: FAILURES_PER_NETWORK, windowSeconds: WINDOW_SECONDS };
  const ofAll = { key: `share:${share}`, max: Number.MAX_SAFE_INTEGER, windowSeconds: WINDOW_SECONDS };
  return { limits: [ofNetwork, ofAll], delayedBy: ofAll.key, undelayed: UNDELAYED_FAILURES, signal };
}
