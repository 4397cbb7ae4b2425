import { HISTORY_PARAMETERS } from '../links/placed-target.policy.ts';
import { MESSAGES, SCOPES, type Tool } from './tool-registration.policy.ts';

/** Canvas's own placements begin with a small letter; the others that Carrel asks for are those of other LMSs. */
const isOfCanvas = (placement: string): boolean => /^[a-z]/.test(placement);

/**
 * Returns the tool's configuration for a Canvas that registers tools by an address (Developer Keys → LTI Key → Enter URL; Canvas'
 * lti_dev_key_config.md). It contains no secret.
 */
export function canvasConfiguration({ name, appUrl, ltiUrl }: Tool): object {
  const target = `${appUrl}/lti/launch`;
  return {
    title: name,
    description: 'Files for courses',
    oidc_initiation_url: `${ltiUrl}/login_initiation`,
    target_link_uri: target,
    redirect_uris: [`${ltiUrl}/launch`],
    public_jwk_url: `${ltiUrl}/.well-known/jwks.json`,
    scopes: SCOPES,
    custom_fields: HISTORY_PARAMETERS,
    extensions: [
      {
        platform: 'canvas.instructure.com',
        domain: new URL(appUrl).host,
        tool_id: 'carrel',
        privacy_level: 'public',
        settings: {
          text: name,
          placements: Object.entries(MESSAGES).flatMap(([type, placements]) =>
            placements
              .filter(isOfCanvas)
              .map((placement) => ({ placement, message_type: type, target_link_uri: target, text: name })),
          ),
        },
      },
    ],
  };
}
