import type { Claims } from './claims.ts';
import { SCOPES as ALL } from './scopes.ts';

/**
 * Behaviour of an LMS product where the documents leave it open, or where the product departs from them. Sources: Moodle's
 * mod/lti, Canvas' registration.md, and reports by WeBWorK, oli-torus and hypothesis about D2L, Sakai and Blackboard.
 */
export interface Face {
  /** `product_family_code`. */
  readonly product: string;
  readonly version: string;
  /**
   * `once`: a JWT whose subject becomes the client id (Moodle); `both`: also for the configuration (Canvas); `none`: it sends
   * none (D2L).
   */
  readonly token: 'once' | 'both' | 'post' | 'none';
  readonly messages: readonly unknown[];
  readonly scopes: readonly string[];
  readonly claims: readonly string[];
  /** Returns `authorization_server`, from its own address; undefined if it has none. */
  readonly authorizationServer?: (base: string) => string;
  /** The answer names the deployment id. */
  readonly namesDeployment: boolean;
  /** Returns what its answer says about the requested messages. */
  readonly answeredMessages: (asked: readonly AskedMessage[]) => readonly unknown[] | undefined;
  /** Returns its own claims in each launch from a course that is a copy of these, the newest first. */
  readonly launchClaims?: (history: readonly string[]) => Claims;
  /** An administrator has to enable the tool. */
  readonly startsPending: boolean;
  readonly status: 200 | 201;
  /** Returns its refusal of a registration that lacks something. */
  readonly refuse: (what: string) => { readonly status: number; readonly type: string; readonly body: string };
}

/** Returns the claims that Brightspace adds to each launch. */
export const brightspaceClaims = (history: unknown): Claims => ({
  'http://www.brightspace.com': { user_id: 7, username: 'x', 'Context.id.history': history, 'ResourceLink.id.history': '' },
});

export interface AskedMessage {
  readonly type: string;
  readonly placements?: readonly string[];
}

const NOTICES = 'https://purl.imsglobal.org/spec/lti/scope/noticehandlers';
const SCOPES = ALL.filter((scope) => scope !== NOTICES);
const CLAIMS = ['iss', 'sub', 'name', 'given_name', 'family_name', 'email', 'locale'];
const words = (status: number) => (what: string) => ({ status, type: 'text/plain', body: what.replaceAll(' ', '_') });
const problem = (status: number) => (what: string) => ({
  status,
  type: 'application/json',
  body: JSON.stringify({ error: 'invalid_client_metadata', error_description: what }),
});

export const FACES = {
  /** Reads only deep linking, answers 200, and shows the tool as pending. */
  moodle: {
    product: 'moodle',
    version: '4.5',
    token: 'once',
    messages: ['LtiResourceLinkRequest', 'LtiDeepLinkingRequest'],
    scopes: SCOPES,
    claims: ['sub', 'iss', 'name', 'given_name', 'family_name', 'email'],
    namesDeployment: true,
    answeredMessages: (asked) => asked.filter(({ type }) => type === 'LtiDeepLinkingRequest'),
    startsPending: true,
    status: 200,
    refuse: words(400),
  },
  /**
   * Refuses everything because of one unknown scope, silently drops placements, and reveals its deployment id at the first
   * launch.
   */
  canvas: {
    product: 'canvas',
    version: 'vCloud',
    token: 'both',
    messages: [
      { type: 'LtiResourceLinkRequest', placements: ['account_navigation', 'course_navigation', 'wiki_page_menu'] },
      {
        type: 'LtiDeepLinkingRequest',
        placements: ['assignment_selection', 'editor_button', 'homework_submission', 'link_selection'],
      },
    ],
    scopes: [...SCOPES, NOTICES],
    claims: CLAIMS,
    authorizationServer: (base) => `${base}/token`,
    namesDeployment: false,
    answeredMessages: (asked) =>
      asked.map((message) => ({ ...message, placements: message.placements?.filter((one) => one !== 'homework_submission') })),
    startsPending: true,
    status: 200,
    refuse: (what) => ({ status: 422, type: 'application/json', body: JSON.stringify({ errors: [what] }) }),
  },
  /** Is registered in its vendor's portal; all institutions share one issuer and one client id, and differ by deployment. */
  blackboard: {
    product: 'BlackboardLearn',
    version: '3900.100',
    token: 'post',
    messages: [{ type: 'LtiResourceLinkRequest' }, { type: 'LtiDeepLinkingRequest' }],
    scopes: SCOPES,
    claims: CLAIMS,
    namesDeployment: false,
    answeredMessages: () => undefined,
    startsPending: true,
    status: 201,
    refuse: problem(400),
  },
  /** Sends no registration token, expects another audience than its token endpoint, and says which course a course copies. */
  brightspace: {
    product: 'desire2learn',
    version: '20.26',
    token: 'none',
    messages: [
      { type: 'LtiResourceLinkRequest' },
      { type: 'LtiDeepLinkingRequest', placements: null },
      { type: 'LtiSubmissionReviewRequest' },
    ],
    scopes: [...SCOPES, NOTICES],
    claims: CLAIMS,
    authorizationServer: (base) => `${base}/auth/token`,
    launchClaims: (history) => brightspaceClaims(history.join(',')),
    namesDeployment: true,
    answeredMessages: (asked) => asked,
    startsPending: true,
    status: 201,
    refuse: problem(400),
  },
  sakai: {
    product: 'sakailms.org',
    version: '25.0',
    token: 'post',
    messages: [
      { type: 'LtiResourceLinkRequest' },
      { type: 'LtiDeepLinkingRequest', placements: ['ContentArea', 'RichTextEditor'] },
      { type: 'LtiSubmissionReviewRequest' },
      { type: 'DataPrivacyLaunchRequest' },
    ],
    scopes: SCOPES,
    claims: CLAIMS,
    namesDeployment: true,
    answeredMessages: (asked) => asked,
    startsPending: false,
    status: 201,
    refuse: problem(400),
  },
} as const satisfies Readonly<Record<string, Face>>;

export type FaceName = keyof typeof FACES;
