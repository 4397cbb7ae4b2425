import { importPKCS8 } from 'jose/key/import';
import { SignJWT } from 'jose/jwt/sign';
import { Problem } from '../../api/problem.ts';
import type { AnswerView } from './deep-linking.schema.ts';

const LTI = 'https://purl.imsglobal.org/spec/lti/claim';
const DEEP_LINKING = 'https://purl.imsglobal.org/spec/lti-dl/claim';

/** Lifetime of the response by the contract (docs/design/lti.md, Deep linking). */
const RESPONSE_SECONDS = 3600;
/** Length of an address, in characters, that all browsers and servers accept. */
const ADDRESS_MAX = 8192;

/** An item in the format of the LMS (Deep Linking 2.0 §3). */
export type ContentItem = { readonly type: string; readonly url: string; readonly title: string } & Readonly<
  Record<string, unknown>
>;

/** The message before it is signed. */
export interface DeepLinkingResponse {
  readonly clientId: string;
  readonly issuer: string;
  readonly deploymentId: string;
  readonly items: readonly ContentItem[];
  readonly data: string | undefined;
  readonly nonce: string;
  readonly now: Date;
}

/** Signs the response with the key of the registration (Deep Linking 2.0 §4.5). `privateKey`: PKCS#8, PEM. */
export async function signResponse(response: DeepLinkingResponse, key: { keyId: string; privateKey: string }): Promise<string> {
  const issuedAt = Math.floor(response.now.getTime() / 1000);
  return new SignJWT({
    nonce: response.nonce,
    [`${LTI}/message_type`]: 'LtiDeepLinkingResponse',
    [`${LTI}/version`]: '1.3.0',
    [`${LTI}/deployment_id`]: response.deploymentId,
    [`${DEEP_LINKING}/content_items`]: response.items,
    ...(response.data === undefined ? {} : { [`${DEEP_LINKING}/data`]: response.data }),
  })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.keyId })
    .setIssuer(response.clientId)
    .setAudience(response.issuer)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + RESPONSE_SECONDS)
    .sign(await importPKCS8(key.privateKey, 'RS256'));
}

/** Returns how the browser takes the response to the LMS. Throws `answer_too_long`. */
export function answerOf(mode: 'Query' | 'FormPost', returnUrl: string, jwt: string): AnswerView {
  if (mode === 'FormPost') return { method: 'post', url: returnUrl, jwt };
  const url = withParameter(returnUrl, jwt);
  if (url.length <= ADDRESS_MAX) return { method: 'get', url, jwt };
  const message =
    `The address of the answer has ${url.length} characters; the maximum is ${ADDRESS_MAX}. ` +
    'Choose fewer files, or shorter titles and texts.';
  throw new Problem('answer_too_long', message);
}

/** Keeps the existing address byte for byte. */
function withParameter(address: string, jwt: string): string {
  const [before = '', fragment] = address.split('#', 2);
  const separator = before.includes('?') ? (/[?&]$/.test(before) ? '' : '&') : '?';
  return `${before}${separator}JWT=${jwt}${fragment === undefined ? '' : `#${fragment}`}`;
}
