import type { Endpoint } from '../api/endpoint.ts';
import type { Events } from '../events/events.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Sealer } from '../runtime/sealing.ts';
import type { Database } from '../store/postgres/database.ts';
import type { GenerationCache } from '../store/redis/generation.ts';
import type { SlidingWindows } from '../store/redis/window.ts';
import { Passwords } from './passwords.ts';
import type { Sessions } from './sessions.service.ts';
import { Attempts } from './sign-in/attempts.ts';
import { SignInCookies } from './sign-in/cookies.ts';
import { KnownBrowsers } from './sign-in/known-browsers.ts';
import { signInEndpoints } from './sign-in/sign-in.endpoints.ts';
import { SignIn } from './sign-in/sign-in.service.ts';
import type { Tokens } from './tokens.ts';
import type { UserBelongings } from './users/belongings.ts';
import { userEndpoints } from './users/users.endpoints.ts';
import { Users } from './users/users.service.ts';

export interface Identity {
  readonly endpoints: readonly Endpoint[];
}

/** Wires the room: sign-in, users. */
export function createIdentity(deps: {
  db: Database;
  cache: GenerationCache;
  windows: SlidingWindows;
  tokens: Tokens;
  sessions: Sessions;
  belongings: UserBelongings;
  events: Events;
  sealer: Sealer;
  clock: Clock;
  random: Random;
  /** Decimal string. */
  tenantId: string;
  defaultQuota: number | undefined;
  /** Where the endpoints hang, `/api/v1`. */
  basePath: string;
  secure: boolean;
}): Identity {
  const passwords = new Passwords();
  const attempts = new Attempts(deps);
  const cookies = new SignInCookies(deps);
  const browsers = new KnownBrowsers(deps);
  const signIn = new SignIn({ ...deps, passwords, attempts, browsers });
  const users = new Users({ ...deps, passwords, attempts });
  return { endpoints: [...signInEndpoints(signIn, { ...deps, cookies }), ...userEndpoints(users)] };
}
