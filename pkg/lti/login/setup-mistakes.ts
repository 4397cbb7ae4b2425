import type { FieldAddress, PageRequest } from '../../api/page.ts';
import { LaunchError } from '../launch-error.ts';

/**
 * The addresses that an LMS's configuration needs, by the names of its fields (in Moodle and other LMSs); also in the status of
 * an LtiRegistration.
 */
export const setupAddresses = ({ appUrl, ltiUrl }: { appUrl: string; ltiUrl: string }): FieldAddress[] => [
  { field: 'Tool URL (launch URL, target link URI)', address: `${appUrl}/lti/launch` },
  { field: 'Initiate login URL (OpenID Connect login URL)', address: `${ltiUrl}/login_initiation` },
  { field: 'Redirection URI', address: `${ltiUrl}/launch` },
  { field: 'Public keyset (JWKS URL)', address: `${ltiUrl}/.well-known/jwks.json` },
];

/** The kinds of requests that an address expects. */
type Expects = 'login' | 'launch' | 'nothing';

/**
 * Detects an LMS that is configured for LTI 1.1, or with the tool's addresses in the wrong fields. Throws LaunchError
 * `lti_1_1_launch`, `login_misdirected`, `launch_misdirected`, with the correct addresses.
 */
export function requireWellAddressed(
  expects: Expects,
  parameters: PageRequest['parameters'],
  addresses: readonly FieldAddress[],
): void {
  const has = (name: string): boolean => parameters.has(name);
  const isLogin = has('iss') || has('login_hint');
  const isLaunch = has('id_token') || has('state');
  if ((expects === 'login' && isLogin) || (expects === 'launch' && isLaunch)) return;
  if (has('oauth_consumer_key') || has('lti_message_type')) throw new LaunchError('lti_1_1_launch', undefined, { addresses });
  if (isLogin) throw new LaunchError('login_misdirected', undefined, { addresses });
  if (isLaunch) throw new LaunchError('launch_misdirected', undefined, { addresses });
}

/** Adds the correct addresses to the refusal of a login for a foreign address: the LMS has the wrong one in its field. */
export const withAddresses = (error: unknown, addresses: readonly FieldAddress[]): unknown =>
  error instanceof LaunchError && error.code === 'target_link_uri_foreign'
    ? new LaunchError(error.code, undefined, { addresses, cause: error })
    : error;
