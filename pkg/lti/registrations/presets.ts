import type { LtiRegistrationSpec } from '../../../crds/types.generated.ts';

/** A registration's description of its platform (crds/ltiregistrations…yaml). */
export type RegistrationSpec = Pick<LtiRegistrationSpec, 'platform' | 'clientId' | 'deepLinkingResponseMode'>;

/** The endpoints of a platform. */
export interface Endpoints {
  readonly authEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksEndpoint: string;
  readonly tokenAudience: string | undefined;
}

interface Preset {
  /**
   * Derives the endpoints from issuer and client id; with a preset that lacks this, a registration names every endpoint itself
   * (the schema requires it).
   */
  readonly endpoints?: (issuer: string, clientId: string) => Omit<Endpoints, 'tokenAudience'> & { tokenAudience?: string };
  /** Real platforms accept the deep-linking response only by a form; Query is the contract's default. */
  readonly deepLinking: 'Query' | 'FormPost';
}

const BLACKBOARD = 'https://developer.blackboard.com/api/v1';

/**
 * Canvas in Instructure's cloud has one issuer per environment and one host that answers for all; elsewhere each Canvas answers
 * for itself.
 */
const CANVAS_CLOUD: Readonly<Record<string, string>> = {
  'https://canvas.instructure.com': 'https://sso.canvaslms.com',
  'https://canvas.beta.instructure.com': 'https://sso.beta.canvaslms.com',
  'https://canvas.test.instructure.com': 'https://sso.test.canvaslms.com',
};

/** The values in each LMS's own documentation for tool administrators. */
export const PRESETS: Readonly<Record<RegistrationSpec['platform']['preset'], Preset>> = {
  moodle: {
    endpoints: (issuer) => ({
      authEndpoint: `${issuer}/mod/lti/auth.php`,
      tokenEndpoint: `${issuer}/mod/lti/token.php`,
      jwksEndpoint: `${issuer}/mod/lti/certs.php`,
    }),
    deepLinking: 'FormPost',
  },
  canvas: {
    endpoints: (issuer) => {
      const base = CANVAS_CLOUD[issuer] ?? issuer;
      return {
        authEndpoint: `${base}/api/lti/authorize_redirect`,
        tokenEndpoint: `${base}/login/oauth2/token`,
        jwksEndpoint: `${base}/api/lti/security/jwks`,
      };
    },
    deepLinking: 'FormPost',
  },
  blackboard: {
    endpoints: (_issuer, clientId) => ({
      authEndpoint: `${BLACKBOARD}/gateway/oidcauth`,
      tokenEndpoint: `${BLACKBOARD}/gateway/oauth2/jwttoken`,
      jwksEndpoint: `${BLACKBOARD}/management/applications/${encodeURIComponent(clientId)}/jwks.json`,
    }),
    deepLinking: 'FormPost',
  },
  brightspace: {
    endpoints: (issuer) => ({
      authEndpoint: `${issuer}/d2l/lti/authenticate`,
      tokenEndpoint: 'https://auth.brightspace.com/core/connect/token',
      jwksEndpoint: `${issuer}/d2l/.well-known/jwks`,
      tokenAudience: 'https://api.brightspace.com/auth/token',
    }),
    deepLinking: 'FormPost',
  },
  sakai: { deepLinking: 'FormPost' },
  generic: { deepLinking: 'Query' },
};

/**
 * Returns the endpoints of a registration: those that it names, otherwise those of its preset. Without a client id, those of the
 * preset may lack it.
 */
export function endpointsOf({ platform, clientId }: RegistrationSpec): Endpoints {
  const preset = PRESETS[platform.preset].endpoints?.(platform.issuer.replace(/\/$/, ''), clientId ?? '');
  return {
    authEndpoint: platform.authEndpoint ?? preset?.authEndpoint ?? '',
    tokenEndpoint: platform.tokenEndpoint ?? preset?.tokenEndpoint ?? '',
    jwksEndpoint: platform.jwksEndpoint ?? preset?.jwksEndpoint ?? '',
    tokenAudience: platform.tokenAudience ?? preset?.tokenAudience,
  };
}

export const deepLinkingModeOf = ({ platform, deepLinkingResponseMode }: RegistrationSpec): 'Query' | 'FormPost' =>
  deepLinkingResponseMode ?? PRESETS[platform.preset].deepLinking;
