import { Counter } from 'prom-client';
import { pageLanguage } from '../../api/page-language.ts';
import { PageProblem, type PageReply, type PageRequest, type PageRoute, type WebPages } from '../../api/page.ts';
import { Problem } from '../../api/problem.ts';
import { sessionOrigin } from '../../access/sessions.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Database } from '../../store/postgres/database.ts';
import { KEY_SET_MAX_AGE_SECONDS, publicKeySet } from './key-set.ts';
import type { Entries } from './entry.service.ts';
import type { OpenedBy } from './framed-launches.ts';
import type { AuthenticationResponse, Launches } from '../launch/launch.service.ts';
import type { Logins } from '../login/login.service.ts';
import { LaunchError } from '../launch-error.ts';
import { requireWellAddressed, setupAddresses, withAddresses } from '../login/setup-mistakes.ts';
import { getPage, putPage } from './storage-pages.ts';

/** The LTI protocol's addresses (docs/design/lti.md, A launch). Unknown parameters are ignored, as OpenID Connect requires. */
export function ltiRoutes(deps: {
  db: Database;
  logins: Logins;
  launches: Launches;
  entries: Entries;
  tokens: Tokens;
  web: WebPages;
  metrics: Metrics;
  /** The address that the LMS posts to, as the browser sees it. */
  redirectUri: string;
  /** Addresses of the tenant, without a slash at the end. */
  appUrl: string;
  ltiUrl: string;
}): PageRoute[] {
  const addresses = setupAddresses(deps);
  const { origin: ownOrigin, pathname: launchPath } = new URL(deps.redirectUri);
  const results = new Counter({
    name: 'lti_launches_total',
    help: 'Launches by result: accepted, or the code of the refusal',
    labelNames: ['result'],
    registers: [deps.metrics],
  });

  const login = async ({ parameters, cookies: sent, languages, files }: PageRequest): Promise<PageReply> => {
    requireWellAddressed('login', parameters, addresses);
    const begun = deps.logins.begin({
      iss: one(parameters, 'iss'),
      loginHint: one(parameters, 'login_hint'),
      targetLinkUri: one(parameters, 'target_link_uri'),
      ltiMessageHint: one(parameters, 'lti_message_hint'),
      clientId: one(parameters, 'client_id'),
      deploymentId: one(parameters, 'lti_deployment_id'),
      storageTarget: one(parameters, 'lti_storage_target'),
      cookies: sent,
    });
    const { location, cookies, put } = await begun.catch((error: unknown) => {
      throw withAddresses(error, addresses);
    });
    const reply = put
      ? putPage(deps.web, put, location, { language: pageLanguage(languages), files })
      : { status: 302, headers: { location: location.href } };
    return { ...reply, headers: { ...reply.headers, 'set-cookie': cookies } };
  };

  /** Counts every finished launch. */
  const counted =
    (handle: (request: PageRequest) => Promise<PageReply>) =>
    async (request: PageRequest): Promise<PageReply> => {
      try {
        const reply = await handle(request);
        if (reply.status === 303) results.inc({ result: 'accepted' });
        return reply;
      } catch (error) {
        results.inc({ result: error instanceof PageProblem || error instanceof Problem ? error.code : 'failed' });
        throw error;
      }
    };

  const launched = async (response: AuthenticationResponse): Promise<PageReply> => {
    const { location, cookie } = await deps.launches.launch(response);
    return { status: 303, headers: { location, 'set-cookie': cookie } };
  };

  const launch = counted(async (request) => {
    requireWellAddressed('launch', request.parameters, addresses);
    const response = responseOf(request);
    const storageRequest = await deps.launches.storageRequest(response);
    return storageRequest
      ? getPage(deps.web, storageRequest, `${launchPath}/storage`, {
          language: pageLanguage(request.languages),
          files: request.files,
        })
      : launched(response);
  });

  /** Accepts only posts of our own page: another site could otherwise sign a user in to a launch that it began. */
  const launchByStorage = counted((request) => {
    if (request.origin === undefined) throw new LaunchError('origin_missing');
    if (request.origin !== ownOrigin) throw new LaunchError('origin_foreign');
    return launched({ ...responseOf(request), stored: one(request.parameters, 'stored') });
  });

  const openedBy = ({ parameters }: PageRequest): OpenedBy => ({
    token: one(parameters, 'token'),
    launch: one(parameters, 'launch'),
  });

  const keySet = async (): Promise<PageReply> => ({
    status: 200,
    body: JSON.stringify(await publicKeySet(deps.db, deps.tokens)),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`,
      'cross-origin-resource-policy': 'cross-origin',
    },
  });

  /** Not a launch address: a launch that arrives here is a configuration error of the LMS. */
  const startFromLms = async ({ parameters }: PageRequest): Promise<PageReply> => {
    requireWellAddressed('nothing', parameters, addresses);
    throw new LaunchError('start_from_lms');
  };

  return [
    { methods: ['get', 'post'], path: '/login_initiation', handle: login },
    { methods: ['post'], path: '/launch', handle: launch },
    { methods: ['get'], path: '/launch', handle: startFromLms },
    { methods: ['post'], path: '/launch/storage', handle: launchByStorage },
    { methods: ['get'], path: '/lti/entry', handle: async (request) => deps.entries.open(openedBy(request), request) },
    { methods: ['get'], path: '/lti/picker', handle: async (request) => deps.entries.openPicker(openedBy(request), request) },
    { methods: ['get'], path: '/lti/launch', handle: startFromLms },
    { methods: ['post'], path: '/lti/launch', handle: counted(startFromLms) },
    { methods: ['get'], path: '/.well-known/jwks.json', handle: keySet },
  ];
}

const responseOf = ({ parameters, cookies, ip, userAgent }: PageRequest): AuthenticationResponse => ({
  state: one(parameters, 'state'),
  idToken: one(parameters, 'id_token'),
  error: one(parameters, 'error'),
  cookies,
  from: sessionOrigin(ip, userAgent),
});

/** Returns a parameter that must not be repeated (RFC 6749 §3.1). */
function one(parameters: PageRequest['parameters'], name: string): string | undefined {
  const values = parameters.get(name) ?? [];
  if (values.length > 1) throw new LaunchError('parameter_repeated', `It is ${name}.`);
  return values[0];
}
