import { KNOWN_BROWSER_SECONDS } from '../../api/lifetimes.ts';
import { endpoint, type Endpoint, reply, type Reply } from '../../api/endpoint.ts';
import { sessionOrigin } from '../../access/sessions.ts';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SignInCookies } from './cookies.ts';
import { requireOwnPage } from './cross-site.policy.ts';
import type { FreshSignIn, RefreshTokens } from './refresh-tokens.service.ts';
import { Credentials, Refresh, SignedIn } from './sign-in.schema.ts';
import type { SignIn } from './sign-in.service.ts';

/** Holds the refresh token, for browsers that ask for it. */
const REFRESH = 'carrel_refresh';
/** Holds the people who signed in with this browser before. */
const KNOWN = 'carrel_known';

/** `secure`: the tenant's address is https. */
export const signInEndpoints = (
  { signIn, refreshTokens }: { signIn: SignIn; refreshTokens: RefreshTokens },
  options: { cookies: SignInCookies; secure: boolean; clock: Clock },
): Endpoint[] => {
  const { cookies } = options;
  const answer = (
    { signedIn, refreshToken, refreshUntil }: FreshSignIn,
    byCookie: boolean,
    setCookies: readonly string[] = [],
  ): Reply => {
    const seconds = Math.ceil((refreshUntil.getTime() - options.clock.now().getTime()) / 1000);
    const sent = byCookie ? [cookies.set(REFRESH, refreshToken, seconds), ...setCookies] : setCookies;
    const body = byCookie ? signedIn : { ...signedIn, refresh_token: refreshToken };
    return reply(200, body, sent.length === 0 ? {} : { 'set-cookie': sent });
  };

  return [
    endpoint({
      method: 'post',
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in with e-mail address and password',
      tag: 'sign-in',
      caller: 'anyone',
      counts: 'login',
      body: Credentials,
      setsCookie: true,
      replies: { 200: SignedIn },
      errors: ['invalid_credentials', 'too_many_attempts'],
      handle: async ({ body, request }) => {
        const { email, password, cookie = false } = body;
        const known = cookies.read(request.headers.cookie, KNOWN);
        const origin = sessionOrigin(request.ip, request.headers['user-agent']);
        const signedIn = await signIn.login(email, password, { network: request.network, known, origin, signal: request.signal });
        return answer(signedIn, cookie, [cookies.set(KNOWN, signedIn.known, KNOWN_BROWSER_SECONDS)]);
      },
    }),
    endpoint({
      method: 'post',
      path: '/auth/refresh',
      operationId: 'refreshSession',
      summary: 'Exchange a refresh token for new tokens; each refresh token works once',
      tag: 'sign-in',
      caller: 'anyone',
      counts: 'refresh',
      body: Refresh,
      setsCookie: true,
      replies: { 200: SignedIn },
      errors: ['invalid_refresh_token', 'session_expired', 'forbidden'],
      handle: async ({ body, request }) => {
        if (body.refresh_token !== undefined) return answer(await refreshTokens.refresh(body.refresh_token), false);
        const token = cookies.read(request.headers.cookie, REFRESH);
        if (token === undefined)
          throw new Problem('invalid_refresh_token', 'The refresh token is missing. Send it in the body or as the cookie.');
        requireOwnPage(request, { secure: options.secure });
        return answer(await refreshTokens.refresh(token), true);
      },
    }),
    endpoint({
      method: 'post',
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'End the session',
      tag: 'sign-in',
      caller: 'user',
      setsCookie: true,
      replies: { 204: null },
      handle: async ({ actor, request }) => {
        await signIn.logout(actor);
        const isKept = cookies.read(request.headers.cookie, REFRESH) !== undefined;
        return reply(204, undefined, isKept ? { 'set-cookie': [cookies.set(REFRESH, '', 0)] } : {});
      },
    }),
  ];
};
