import { endpoint, type Endpoint, reply, type Reply } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import { SESSION_MS } from '../sessions.service.ts';
import { Credentials, Refresh, SignedIn } from './sign-in.schema.ts';
import type { FreshSignIn, SignIn } from './sign-in.service.ts';

export const REFRESH_COOKIE = 'carrel_refresh';

/** `secure`: the tenant's address is https. */
export const signInEndpoints = (signIn: SignIn, options: { basePath: string; secure: boolean }): Endpoint[] => {
  const cookie = (value: string, seconds: number): Record<string, string> => ({
    'set-cookie': `${REFRESH_COOKIE}=${value}; Path=${options.basePath}/auth; Max-Age=${seconds}; HttpOnly; SameSite=Strict${options.secure ? '; Secure' : ''}`,
  });
  const answer = ({ refresh_token, ...signedIn }: FreshSignIn, byCookie: boolean): Reply =>
    byCookie ? reply(200, signedIn, cookie(refresh_token, SESSION_MS / 1000)) : reply(200, { ...signedIn, refresh_token });

  return [
    endpoint({
      method: 'post',
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in with e-mail address and password',
      tag: 'sign-in',
      caller: 'anyone',
      body: Credentials,
      setsCookie: true,
      replies: { 200: SignedIn },
      errors: ['invalid_credentials', 'too_many_attempts'],
      handle: async ({ body, request }) => answer(await signIn.login(body.email, body.password, request.ip), body.cookie ?? false),
    }),
    endpoint({
      method: 'post',
      path: '/auth/refresh',
      operationId: 'refreshSession',
      summary: 'Exchange a refresh token for new tokens; each is good once',
      tag: 'sign-in',
      caller: 'anyone',
      body: Refresh,
      setsCookie: true,
      replies: { 200: SignedIn },
      errors: ['invalid_refresh_token'],
      handle: async ({ body, request }) => {
        const kept = body.refresh_token === undefined ? cookieOf(request.headers.cookie) : undefined;
        const token = body.refresh_token ?? kept;
        if (token === undefined)
          throw new Problem('invalid_refresh_token', 'There is no refresh token, neither in the body nor as a cookie.');
        return answer(await signIn.refresh(token), kept !== undefined);
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
        return reply(204, undefined, cookieOf(request.headers.cookie) === undefined ? {} : cookie('', 0));
      },
    }),
  ];
};

const cookieOf = (header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${REFRESH_COOKIE}=`))
    ?.slice(REFRESH_COOKIE.length + 1);
