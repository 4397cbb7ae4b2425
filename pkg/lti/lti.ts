import type { Feature } from '../feature/feature.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { contextEndpoints } from './contexts/contexts.endpoints.ts';
import { Contexts } from './contexts/contexts.service.ts';
import { ContentItems } from './deep-linking/content-items.ts';
import { deepLinkingEndpoints } from './deep-linking/deep-linking.endpoints.ts';
import { Pickers } from './deep-linking/pickers.service.ts';
import { DynamicRegistration } from './dynamic-registration/dynamic-registration.service.ts';
import { registrationRoutes } from './dynamic-registration/registration.routes.ts';
import { CourseSync } from './launch/course-sync.ts';
import { Entries } from './pages/entry.service.ts';
import { FramedLaunches } from './pages/framed-launches.ts';
import { TargetKeys } from './links/target-keys.ts';
import { gradeEndpoints } from './grades/grades.endpoints.ts';
import { Grades } from './grades/grades.service.ts';
import { handInEndpoints } from './hand-ins/hand-ins.endpoints.ts';
import { HandIns } from './hand-ins/hand-ins.service.ts';
import { lineItemEndpoints } from './line-items/line-items.endpoints.ts';
import { LineItems } from './line-items/line-items.service.ts';
import { Deployments } from './registrations/deployments.service.ts';
import { registrationEndpoints } from './registrations/registrations.endpoints.ts';
import { Registrations } from './registrations/registrations.service.ts';
import { resultEndpoints } from './results/results.endpoints.ts';
import { Results } from './results/results.service.ts';
import { LinkMembers } from './members/link-members.service.ts';
import { memberEndpoints } from './members/members.endpoints.ts';
import { CourseMembers } from './members/members.service.ts';
import { RosterRequests } from './members/roster-requests.ts';
import { CourseServices } from './services/course-services.ts';
import { LmsCalls } from './services/lms-calls.ts';
import { grantsOfLaunch } from './links/link-state.sql.ts';
import { LinkSync } from './links/link-sync.ts';
import { Launches } from './launch/launch.service.ts';
import { LaunchOpener } from './launch/launch-opener.ts';
import { launchViewEndpoints } from './launch/launch-view.endpoints.ts';
import { LaunchViews } from './launch/launch-view.service.ts';
import { Logins } from './login/login.service.ts';
import { LoginStates } from './login/login-state.ts';
import { ltiRoutes } from './pages/lti.routes.ts';
import { HandlerRequests } from './notices/handler-requests.ts';
import { noticeRoutes } from './notices/notices.routes.ts';
import { Notices } from './notices/notices.service.ts';
import { PlatformKeys } from './launch/platform-keys.ts';
import { TokenVerifier } from './launch/token-verifier.ts';
import { UserSync } from './launch/user-sync.ts';
import { UnknownValues } from './login/unknown-values.ts';

/** Login initiation, launch, the page of the course and the key set; launches, courses, line items and grades in the REST API. */
export const lti: Feature = {
  name: 'lti',
  launchGrants: (db) => (launchId, userId, now) => grantsOfLaunch(db, launchId, userId, now),
  create(services) {
    const { db, log, addresses, settings } = services;
    const { appUrl, ltiUrl, apiUrl } = addresses;
    const deps = { ...services, appUrl, ltiUrl, apiUrl, tenantId: services.tenant.id, defaultQuota: settings.defaultQuota };
    const redirectUri = `${ltiUrl}/launch`;
    const origins = new Set([appUrl, ltiUrl].map((url) => new URL(url).origin));
    const paths = { login: new URL(`${ltiUrl}/login_initiation`).pathname, launch: new URL(redirectUri).pathname };
    const states = new LoginStates({ ...deps, paths });
    const unknown = new UnknownValues({ sql: db.tables, log });
    const logins = new Logins({ db, states, unknown, redirectUri, origins });
    const keys = new PlatformKeys(deps);
    const verifier = new TokenVerifier({ ...deps, keys, origins, unknown });
    const [users, courses] = [new UserSync(deps), new CourseSync(deps)];
    const tasks = new TaskRequests(services);
    const targets = new TargetKeys(deps);
    const links = new LinkSync({ keys: targets });
    const launches = new Launches({
      ...deps,
      states,
      verifier,
      opener: new LaunchOpener(deps),
      users,
      courses,
      links,
      rosters: new RosterRequests({ db, tasks, log }),
      handlers: new HandlerRequests(deps),
    });
    const calls = new LmsCalls(deps);
    const courseServices = new CourseServices({ ...deps, sql: db.tables, calls });
    const entries = new Entries({ ...deps, framed: new FramedLaunches(deps) });
    const items = new ContentItems({ ...deps, targets });
    const tool = { name: services.tenant.name ?? 'Carrel', appUrl, ltiUrl };
    const registration = new DynamicRegistration({ ...deps, tool, allow: settings.egressAllow });
    return {
      pages: [
        ...ltiRoutes({ ...deps, logins, launches, entries, redirectUri }),
        ...noticeRoutes({ ...deps, notices: new Notices({ ...deps, keys }) }),
        ...registrationRoutes({ ...deps, registration, tool }),
      ],
      endpoints: [
        ...launchViewEndpoints(new LaunchViews(deps)),
        ...deepLinkingEndpoints(new Pickers({ ...deps, items })),
        ...handInEndpoints(new HandIns(deps)),
        ...registrationEndpoints(new Registrations(deps), new Deployments(deps), registration),
        ...contextEndpoints(new Contexts(deps)),
        ...memberEndpoints(new CourseMembers({ ...deps, tasks }), new LinkMembers({ ...deps, calls, services: courseServices })),
        ...lineItemEndpoints(new LineItems({ ...deps, calls, services: courseServices })),
        ...resultEndpoints(new Results({ ...deps, calls, services: courseServices })),
        ...gradeEndpoints(new Grades(deps)),
      ],
    };
  },
};
