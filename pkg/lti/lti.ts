import type { Endpoint } from '../api/endpoint.ts';
import type { PageRoute, WebPages } from '../api/page.ts';
import type { Events } from '../events/events.ts';
import type { PermissionSets } from '../identity/permission-sets.ts';
import type { Tokens } from '../identity/tokens.ts';
import type { GuardedClient } from '../net/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Sealer } from '../runtime/sealing.ts';
import type { Database } from '../store/postgres/database.ts';
import type { GenerationCache } from '../store/redis/generation.ts';
import { Courses } from './courses.ts';
import { Entries } from './entry.service.ts';
import { Launches } from './launch.service.ts';
import { launchViewEndpoints } from './launch-view.endpoints.ts';
import { LaunchViews } from './launch-view.service.ts';
import { Logins } from './login.service.ts';
import { LoginStates } from './login-state.ts';
import { ltiRoutes } from './lti.routes.ts';
import { People } from './people.ts';
import { PlatformKeys } from './platform-keys.ts';
import { UnknownValues } from './unknown-values.ts';

/** Wires the room: login initiation, launch, page of the course, key set; and what the API says of launches. */
export function createLti(deps: {
  db: Database;
  cache: GenerationCache;
  events: Events;
  permissionSets: PermissionSets;
  tokens: Tokens;
  /** For what platforms publish. */
  client: GuardedClient;
  sealer: Sealer;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: Metrics;
  /** Decimal string. */
  tenantId: string;
  defaultQuota: number | undefined;
  /** Addresses of the tenant, without a slash at the end. */
  appUrl: string;
  ltiUrl: string;
  web: WebPages;
}): { pages: readonly PageRoute[]; endpoints: readonly Endpoint[] } {
  const redirectUri = `${deps.ltiUrl}/launch`;
  const origins = new Set([deps.appUrl, deps.ltiUrl].map((url) => new URL(url).origin));
  const paths = { login: new URL(`${deps.ltiUrl}/login_initiation`).pathname, launch: new URL(redirectUri).pathname };
  const states = new LoginStates({ ...deps, paths });
  const unknown = new UnknownValues({ sql: deps.db.tables, log: deps.log });
  const logins = new Logins({ db: deps.db, states, unknown, redirectUri, origins });
  const keys = new PlatformKeys(deps);
  const launches = new Launches({ ...deps, states, keys, people: new People(deps), courses: new Courses(deps), origins, unknown });
  return {
    pages: ltiRoutes({ ...deps, logins, launches, entries: new Entries(deps), redirectUri }),
    endpoints: launchViewEndpoints(new LaunchViews(deps)),
  };
}
