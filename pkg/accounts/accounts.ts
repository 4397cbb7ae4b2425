import { BASE_PATH } from '../api/endpoint.ts';
import type { Feature } from '../feature/feature.ts';
import { type PasswordCost, Passwords } from './passwords.ts';
import { LoginThrottle } from './sign-in/login-throttle.ts';
import { SignInCookies } from './sign-in/cookies.ts';
import { KnownBrowsers } from './sign-in/known-browsers.ts';
import { RefreshTokens } from './sign-in/refresh-tokens.service.ts';
import { signInEndpoints } from './sign-in/sign-in.endpoints.ts';
import { SignIn } from './sign-in/sign-in.service.ts';
import { passwordResetEndpoints } from './password-reset/password-reset.endpoints.ts';
import { PasswordResets } from './password-reset/password-reset.service.ts';
import { sessionEndpoints } from './sessions/sessions.endpoints.ts';
import { OwnSessions } from './sessions/sessions.service.ts';
import { userEndpoints } from './users/users.endpoints.ts';
import { Users } from './users/users.service.ts';

/** Users, their passwords, and signing in. Tests pass a `passwordCost` other than the default. */
export const accountsFeature = (passwordCost?: PasswordCost): Feature => ({
  name: 'accounts',
  create(services) {
    const { tenant, addresses, settings, clock } = services;
    const deps = {
      ...services,
      tenantId: tenant.id,
      passwords: new Passwords(passwordCost),
      loginThrottle: new LoginThrottle(services),
    };
    const secure = addresses.apiUrl.startsWith('https:');
    const refreshTokens = new RefreshTokens(deps);
    const signIn = new SignIn({ ...deps, refreshTokens, browsers: new KnownBrowsers(deps) });
    const users = new Users({ ...deps, defaultQuota: settings.defaultQuota });
    const cookies = new SignInCookies({ basePath: BASE_PATH, secure });
    return {
      endpoints: [
        ...signInEndpoints({ signIn, refreshTokens }, { cookies, secure, clock }),
        ...passwordResetEndpoints(new PasswordResets(deps)),
        ...sessionEndpoints(new OwnSessions(deps)),
        ...userEndpoints(users),
      ],
    };
  },
});
