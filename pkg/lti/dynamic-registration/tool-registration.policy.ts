import { HISTORY_PARAMETERS } from '../links/placed-target.policy.ts';
import type { PlatformAddresses, PlatformConfiguration, SupportedMessage } from './platform-configuration.policy.ts';

/** The properties of the tool that an LMS learns. Addresses have no slash at the end. */
export interface Tool {
  readonly name: string;
  readonly appUrl: string;
  readonly ltiUrl: string;
}

/** The request to one LMS: only what it says it offers, since one unknown scope may make it refuse everything. */
export interface Asked {
  readonly scopes: readonly string[];
  readonly claims: readonly string[];
  readonly messages: readonly SupportedMessage[];
}

export const TOOL_CONFIGURATION = 'https://purl.imsglobal.org/spec/lti-tool-configuration';
const CANVAS = 'https://canvas.instructure.com/lti';

export const SCOPES = [
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem',
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly',
  'https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly',
  'https://purl.imsglobal.org/spec/lti-ags/scope/score',
  'https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly',
];
/**
 * The scope of the Platform Notification Service, which few LMSs have. It is not requested if the LMS does not list its scopes.
 */
const NOTICE_SCOPE = 'https://purl.imsglobal.org/spec/lti/scope/noticehandlers';
const CLAIMS = ['iss', 'sub', 'name', 'given_name', 'family_name', 'email', 'locale'];

/** Placements of each message: those of Canvas and of the 1EdTech documents. */
export const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  LtiResourceLinkRequest: ['course_navigation'],
  LtiDeepLinkingRequest: [
    'link_selection',
    'assignment_selection',
    'editor_button',
    'homework_submission',
    'ContentArea',
    'RichTextEditor',
  ],
  LtiSubmissionReviewRequest: [],
};

/**
 * Pure. Where the LMS does not list what it offers, asks for what every LMS has. Always asks for resource links: without them no
 * link opens.
 */
export function askedOf({ scopes, claims, messages }: PlatformConfiguration): Asked {
  const types = Object.entries(MESSAGES).map(([type, placements]) => {
    const offered = messages.filter((message) => message.type === type);
    const isOffered = messages.length === 0 || offered.length > 0 || type === 'LtiResourceLinkRequest';
    return isOffered
      ? [{ type, placements: placements.filter((one) => offered.some((message) => message.placements.includes(one))) }]
      : [];
  });
  return {
    scopes: scopes.length === 0 ? SCOPES : [...SCOPES, NOTICE_SCOPE].filter((scope) => scopes.includes(scope)),
    claims: CLAIMS.filter((claim) => claim === 'iss' || claim === 'sub' || claims.length === 0 || claims.includes(claim)),
    messages: types.flat(),
  };
}

/** Returns the tool's registration for an LMS (LTI Dynamic Registration 1.0 §3.6.1; RFC 7591 §2), as JSON. */
export function registrationBody(tool: Tool, { product }: Pick<PlatformAddresses, 'product'>, asked: Asked): object {
  const { appUrl, ltiUrl, name } = tool;
  const target = `${appUrl}/lti/launch`;
  const [domain, ltiDomain] = [new URL(appUrl).host, new URL(ltiUrl).host];
  const isCanvas = product?.toLowerCase() === 'canvas';
  return {
    application_type: 'web',
    response_types: ['id_token'],
    grant_types: ['client_credentials', 'implicit'],
    initiate_login_uri: `${ltiUrl}/login_initiation`,
    redirect_uris: [`${ltiUrl}/launch`],
    client_name: name,
    client_uri: appUrl,
    jwks_uri: `${ltiUrl}/.well-known/jwks.json`,
    token_endpoint_auth_method: 'private_key_jwt',
    scope: asked.scopes.join(' '),
    [TOOL_CONFIGURATION]: {
      domain,
      ...(ltiDomain === domain ? {} : { secondary_domains: [ltiDomain] }),
      description: 'Files for courses',
      target_link_uri: target,
      custom_parameters: HISTORY_PARAMETERS,
      claims: asked.claims,
      messages: asked.messages.map(({ type, placements }) => ({
        type,
        target_link_uri: target,
        label: name,
        ...(placements.length === 0 ? {} : { placements }),
      })),
      ...(isCanvas ? { [`${CANVAS}/privacy_level`]: 'public', [`${CANVAS}/tool_id`]: 'carrel' } : {}),
    },
  };
}
