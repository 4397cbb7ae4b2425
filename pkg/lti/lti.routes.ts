import { Counter } from 'prom-client';
import { PageProblem, type PageReply, type PageRequest, type PageRoute } from '../api/page.ts';
import { Problem } from '../api/problem.ts';
import type { Tokens } from '../identity/tokens.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database } from '../store/postgres/database.ts';
import { KEY_SET_MAX_AGE_SECONDS, publicKeySet } from './key-set.ts';
import type { Launches } from './launch.service.ts';
import type { Logins } from './login.service.ts';
import { LtiRefusal } from './refusal.ts';

/** The LTI protocol's addresses (specification: LTI endpoints). Parameters that are not known are ignored, as OpenID Connect says. */
export function ltiRoutes(deps: { db: Database; logins: Logins; launches: Launches; tokens: Tokens; metrics: Metrics }): PageRoute[] {
  const results = new Counter({
    name: 'lti_launches_total',
    help: 'Launches by result: accepted, or the code of the refusal',
    labelNames: ['result'],
    registers: [deps.metrics],
  });

  const login = async ({ parameters }: PageRequest): Promise<PageReply> => {
    const { location, cookie } = await deps.logins.begin({
      iss: one(parameters, 'iss'),
      loginHint: one(parameters, 'login_hint'),
      targetLinkUri: one(parameters, 'target_link_uri'),
      ltiMessageHint: one(parameters, 'lti_message_hint'),
      clientId: one(parameters, 'client_id'),
    });
    return { status: 302, headers: { location, 'set-cookie': cookie } };
  };

  const launch = async ({ parameters, cookies }: PageRequest): Promise<PageReply> => {
    try {
      const { location, cookie } = await deps.launches.launch({
        state: one(parameters, 'state'),
        idToken: one(parameters, 'id_token'),
        error: one(parameters, 'error'),
        cookies,
      });
      results.inc({ result: 'accepted' });
      return { status: 303, headers: { location, 'set-cookie': cookie } };
    } catch (error) {
      results.inc({ result: error instanceof PageProblem || error instanceof Problem ? error.code : 'failed' });
      throw error;
    }
  };

  const keySet = async (): Promise<PageReply> => ({
    status: 200,
    body: JSON.stringify(await publicKeySet(deps.db, deps.tokens)),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`,
      'cross-origin-resource-policy': 'cross-origin',
    },
  });

  const startFromLms = (): Promise<PageReply> => Promise.reject(new LtiRefusal('start_from_lms'));

  return [
    { methods: ['get', 'post'], path: '/login_initiation', handle: login },
    { methods: ['post'], path: '/launch', handle: launch },
    { methods: ['get'], path: '/launch', handle: startFromLms },
    { methods: ['get'], path: '/lti/launch', handle: startFromLms },
    { methods: ['get'], path: '/.well-known/jwks.json', handle: keySet },
  ];
}

/** A parameter that must not stand twice (RFC 6749 §3.1). */
function one(parameters: PageRequest['parameters'], name: string): string | undefined {
  const values = parameters.get(name) ?? [];
  if (values.length > 1) throw new LtiRefusal('parameter_repeated', `It is ${name}.`);
  return values[0];
}
