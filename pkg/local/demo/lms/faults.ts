import { AGS, type Claims, LEARNER, LTI, NRPS } from './claims.ts';
import type { FAMILIES } from './keys.ts';

/** The signing key and its key id. */
export type Signer = 'own' | 'unpublished' | 'impostor' | 'weak' | 'encryption' | (typeof FAMILIES)[number] | 'bare';

/** A deviation of an LMS, or of somebody in between, from the documents. Each breaks one rule. */
export interface Fault {
  /** Changes parameters of login initiation. */
  readonly login?: (parameters: URLSearchParams) => void;
  readonly claims?: (claims: Claims) => void;
  readonly header?: (header: Claims) => void;
  /**
   * Default: `own`, whose key is published. The name of an algorithm: a new published key for it; `bare`: without `alg` and
   * `use`. `impostor` signs with another key under the published key's id.
   */
  readonly signer?: Signer;
  /** Changes the finished text of the token. */
  readonly token?: (token: string) => string;
  /** Changes fields of the form that the browser posts. */
  readonly form?: (fields: URLSearchParams) => void;
}

const claim = (name: string, value: unknown): Fault => ({ claims: (claims) => void (claims[name] = value) });
const noClaim = (name: string): Fault => ({ claims: (claims) => void delete claims[name] });
const login = (name: string, value: string | null): Fault => ({ login: (parameters) => put(parameters, name, value) });
const field = (name: string, value: string | null): Fault => ({ form: (fields) => put(fields, name, value) });
const ahead = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function put(parameters: URLSearchParams, name: string, value: string | null): void {
  if (value === null) parameters.delete(name);
  else parameters.set(name, value);
}

/** Replaces one of the token's three parts. */
const part = (index: number, change: (text: string) => string) => (token: string) =>
  token
    .split('.')
    .map((text, at) => (at === index ? change(text) : text))
    .join('.');

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

export const FAULTS = {
  // Login initiation (1EdTech Security Framework §5.1.1.1)
  'login without iss': login('iss', null),
  'login by an unknown issuer': login('iss', 'https://stranger.example.org'),
  'login by the issuer with a slash at the end': { login: (p) => p.set('iss', `${p.get('iss')}/`) },
  'login with an unknown client_id': login('client_id', 'stranger'),
  'login without login_hint': login('login_hint', null),
  'login without target_link_uri': login('target_link_uri', null),
  'login to open another site': login('target_link_uri', 'https://evil.example.org/lti/launch'),
  'login to open what is no address': login('target_link_uri', 'lti/launch'),
  'login with iss twice': { login: (p) => p.append('iss', 'https://stranger.example.org') },
  'login with a storage frame of 65 characters': login('lti_storage_target', 'f'.repeat(65)),
  'login with a storage frame of control characters': login('lti_storage_target', 'frame\n'),
  'login with two storage frames': {
    login: (p) => (p.append('lti_storage_target', '_parent'), p.append('lti_storage_target', 'keeper')),
  },
  // The form
  'an error of the LMS': { form: (fields) => (fields.delete('id_token'), fields.set('error', 'login_required')) },
  'no state': field('state', null),
  'a state that is none of ours': field('state', 'abc'),
  'a state that names what is no frame': field('state', `${'A'.repeat(43)}.*`),
  'a state of another browser': field('state', 'A'.repeat(43)),
  'state twice': { form: (fields) => fields.append('state', 'A'.repeat(43)) },
  'no id_token': field('id_token', null),
  'id_token twice': { form: (fields) => fields.append('id_token', 'e30.e30.') },
  // The signed text (RFC 7515, 7518)
  'an id_token that is no JWT': field('id_token', 'hello'),
  'an id_token of two parts': { token: (token) => token.split('.').slice(0, 2).join('.') },
  'an id_token whose claims are no JSON': { token: part(1, () => 'aGVsbG8') },
  'an id_token whose header is no JSON': { token: part(0, () => 'aGVsbG8') },
  'claims that are nested 10,000 deep': { token: part(1, () => Buffer.from(`{"azp":${nested(10_000)}}`).toString('base64url')) },
  'alg none': { header: (header) => void (header.alg = 'none') },
  'alg HS256 with the public key as secret': { header: (header) => void (header.alg = 'HS256') },
  'an extension that must be understood': { header: (header) => void Object.assign(header, { crit: ['x'], x: 1 }) },
  'no kid': { header: (header) => void delete header.kid },
  'a kid that is a number': { header: (header) => void (header.kid = 7) },
  'a key that is not published': { signer: 'unpublished' },
  'a key of another under the published id': { signer: 'impostor' },
  'a key of 1024 bits': { signer: 'weak' },
  'a key for encryption': { signer: 'encryption' },
  'an algorithm that is not the key’s': { header: (header) => void (header.alg = 'RS512') },
  'changed claims': { token: part(1, (text) => changedClaims(text)) },
  'a cut signature': { token: (token) => token.slice(0, -8) },
  'no signature': { token: part(2, () => '') },
  // Its claims (1EdTech Security Framework §5.1.3, LTI Core §5.3)
  'no iss': noClaim('iss'),
  'another iss': claim('iss', 'https://stranger.example.org'),
  'no aud': noClaim('aud'),
  'another aud': claim('aud', 'stranger'),
  'other audiences': claim('aud', ['stranger', 'foreigner']),
  'several audiences without azp': { claims: (claims) => void (claims.aud = [claims.aud, 'stranger']) },
  'another azp': claim('azp', 'stranger'),
  'an azp that is no text': claim('azp', { id: 'stranger' }),
  'several audiences and azp null': {
    claims: (claims) => void Object.assign(claims, { aud: [claims.aud, 'stranger'], azp: null }),
  },
  'no exp': noClaim('exp'),
  'an exp that is text': { claims: (claims) => void (claims.exp = String(claims.exp)) },
  'an expired id_token': { claims: (claims) => void Object.assign(claims, { iat: ahead(-120), exp: ahead(-60) }) },
  'no iat': noClaim('iat'),
  'an id_token of the future': { claims: (claims) => void Object.assign(claims, { iat: ahead(120), exp: ahead(180) }) },
  'an id_token that does not hold yet': { claims: (claims) => void (claims.nbf = ahead(120)) },
  'no nonce': noClaim('nonce'),
  'another nonce': claim('nonce', 'B'.repeat(43)),
  'no sub': noClaim('sub'),
  'an empty sub': claim('sub', ''),
  'a sub of 256 characters': claim('sub', 'x'.repeat(256)),
  'a sub beyond ASCII': claim('sub', 'jürgen'),
  'no message type': noClaim(`${LTI}/message_type`),
  'a message type that is not taken': claim(`${LTI}/message_type`, 'LtiAssetProcessorSettingsRequest'),
  'no version': noClaim(`${LTI}/version`),
  'LTI 1.1': claim(`${LTI}/version`, 'LTI-1p1'),
  'no deployment id': noClaim(`${LTI}/deployment_id`),
  'a deployment id of 256 characters': claim(`${LTI}/deployment_id`, 'd'.repeat(256)),
  'an unknown deployment': claim(`${LTI}/deployment_id`, 'stranger'),
  'no target': noClaim(`${LTI}/target_link_uri`),
  'a target on another site': claim(`${LTI}/target_link_uri`, 'https://evil.example.org/'),
  'no resource link': noClaim(`${LTI}/resource_link`),
  'a resource link without id': claim(`${LTI}/resource_link`, { title: 'Files' }),
  'no roles': noClaim(`${LTI}/roles`),
  'roles that are no list': claim(`${LTI}/roles`, 'Instructor'),
  'a context without id': claim(`${LTI}/context`, { title: 'History' }),
  'a context whose id is a number': claim(`${LTI}/context`, { id: 7 }),
  'a context id of 256 characters': claim(`${LTI}/context`, { id: 'c'.repeat(256) }),
  'an id_token of four parts': { token: (token) => `${token}.x` },
  'an alg in lower case': { header: (header) => void (header.alg = 'rs256') },
  'no alg': { header: (header) => void delete header.alg },
  'an empty kid': { header: (header) => void (header.kid = '') },
  'an iss with a slash at the end': { claims: (claims) => void (claims.iss = `${String(claims.iss)}/`) },
  'an iss in a list': { claims: (claims) => void (claims.iss = [claims.iss]) },
  'an aud that is a number': claim('aud', 7),
  'an empty list of audiences': claim('aud', []),
  'exp null': claim('exp', null),
  'an iat that is text': { claims: (claims) => void (claims.iat = String(claims.iat)) },
  'an nbf that is text': { claims: (claims) => void (claims.nbf = String(claims.iat)) },
  'a nonce that is a number': claim('nonce', 7),
  'sub null': claim('sub', null),
  'a sub that is a number': claim('sub', 7),
  'a sub with a line break': claim('sub', 'ada\nbob'),
  'message type null': claim(`${LTI}/message_type`, null),
  'a version without its last number': claim(`${LTI}/version`, '1.3'),
  'an empty deployment id': claim(`${LTI}/deployment_id`, ''),
  'a deployment id that is a number': claim(`${LTI}/deployment_id`, 1),
  'a target that is script': claim(`${LTI}/target_link_uri`, 'javascript:alert(1)'),
  'an empty target': claim(`${LTI}/target_link_uri`, ''),
  'a resource link whose id is a number': claim(`${LTI}/resource_link`, { id: 7 }),
  'a resource link id of 256 characters': claim(`${LTI}/resource_link`, { id: 'l'.repeat(256) }),
  'roles null': claim(`${LTI}/roles`, null),
  'roles with a number among them': claim(`${LTI}/roles`, [LEARNER, 7]),
} as const satisfies Record<string, Fault>;

/** Values that real LMSs send and the documents allow. */
export const ODDITIES = {
  'two audiences and azp': {
    claims: (claims) => void Object.assign(claims, { aud: [claims.aud, 'another-tool'], azp: claims.aud }),
  },
  'one audience in a list': { claims: (claims) => void (claims.aud = [claims.aud]) },
  'azp null': claim('azp', null),
  'azp empty': claim('azp', ''),
  'azp beside one audience': { claims: (claims) => void (claims.azp = claims.aud) },
  'claims that nobody knows': claim('https://lms.example.org/claim/x', { deep: [1, { y: null }] }),
  'roles that nobody knows': claim(`${LTI}/roles`, ['https://lms.example.org/roles#Wizard', 'urn:x']),
  'an empty list of roles': claim(`${LTI}/roles`, []),
  'a bare role name': claim(`${LTI}/roles`, ['Learner']),
  'no context': noClaim(`${LTI}/context`),
  'a context without title': claim(`${LTI}/context`, { id: 'untitled' }),
  'a title with slashes and control characters': claim(`${LTI}/context`, { id: 'odd-title', title: 'A/B\u0000 \n..' }),
  'a clock that is 25 s ahead': { claims: (claims) => void Object.assign(claims, { iat: ahead(25), exp: ahead(85) }) },
  'a clock that is 25 s behind': { claims: (claims) => void Object.assign(claims, { iat: ahead(-85), exp: ahead(-25) }) },
  'times with fractions': { claims: (claims) => void Object.assign(claims, { iat: ahead(0) + 0.5, exp: ahead(60) + 0.5 }) },
  'login without lti_message_hint': login('lti_message_hint', null),
  'login without client_id': login('client_id', null),
  'login with parameters that nobody knows': login('canvas_region', 'us-east-1'),
  'an empty storage frame': login('lti_storage_target', ''),
  'a form with fields that nobody knows': field('session_state', 'x'),
  'an empty line item': claim(AGS, { scope: [], lineitem: '', lineitems: '' }),
  'addresses with control characters': {
    claims: (claims) => {
      const address = 'https://lms.example.org/\u0000';
      claims[AGS] = { scope: [], lineitem: address, lineitems: address };
      claims[`${LTI}/launch_presentation`] = { return_url: address };
      claims[`${LTI}/tool_platform`] = { guid: 'x', url: address };
    },
  },
  'an e-mail address that is none': claim('email', 'nobody at all'),
  'a name of 300 characters': claim('name', 'n'.repeat(300)),
  'a name null and an address null': { claims: (claims) => void Object.assign(claims, { name: null, email: null }) },
  'an address that is a list': claim('email', ['ada@lms.example.org']),
  'given and family name alone': {
    claims: (claims) => (delete claims.name, void Object.assign(claims, { given_name: 'Ada', family_name: 'Okafor' })),
  },
  'context null': claim(`${LTI}/context`, null),
  'a context with a label alone': claim(`${LTI}/context`, { id: 'labelled', label: 'HIST 101' }),
  'a context with an empty title': claim(`${LTI}/context`, { id: 'empty-title', title: '', label: '' }),
  'a resource link without title': claim(`${LTI}/resource_link`, { id: 'untitled' }),
  'services null': { claims: (claims) => void Object.assign(claims, { [AGS]: null, [NRPS]: null }) },
  'a scope that is text': claim(AGS, {
    scope: `${AGS.replace('claim/endpoint', 'scope')}/score`,
    lineitems: 'https://lms.example.org/items',
  }),
  'addresses of services that are relative': {
    claims: (claims) =>
      void Object.assign(claims, { [AGS]: { scope: [], lineitems: '/items' }, [NRPS]: { context_memberships_url: 'members' } }),
  },
  'optional claims null': {
    claims: (claims) => {
      for (const name of ['launch_presentation', 'tool_platform', 'custom', 'lis', 'role_scope_mentor'])
        claims[`${LTI}/${name}`] = null;
    },
  },
  'the same role twice': claim(`${LTI}/roles`, [LEARNER, LEARNER]),
  'a role of 300 characters': claim(`${LTI}/roles`, [LEARNER, `https://lms.example.org/${'r'.repeat(300)}`]),
  'roles of the institution alone': claim(`${LTI}/roles`, ['http://purl.imsglobal.org/vocab/lis/v2/institution/person#Student']),
  'an nbf of the past': { claims: (claims) => void (claims.nbf = ahead(-100)) },
  'no typ': { header: (header) => void delete header.typ },
  'a typ that is another': { header: (header) => void (header.typ = 'id_token+jwt') },
  'login with lti_deployment_id': login('lti_deployment_id', '1'),
} as const satisfies Record<string, Fault>;

function changedClaims(text: string): string {
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Claims;
  return Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url');
}
