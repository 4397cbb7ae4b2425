import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Etag, label, Timestamp, Uuid } from '../../api/schemas.ts';

const Scope = z.string().meta({ example: 'https://purl.imsglobal.org/spec/lti-ags/scope/score' });

/** The agreement between the LMS and the tool after LTI Dynamic Registration. */
export const Registered = z.object({
  at: Timestamp,
  product: z.string().nullable().meta({ description: 'what the LMS calls its product family', example: 'moodle' }),
  scopes_asked: z.array(Scope),
  scopes_granted: z.array(Scope),
  placements: z
    .array(z.string().meta({ example: 'LtiDeepLinkingRequest' }))
    .describe('accepted messages, each followed by a colon and its placement if it has one'),
  pending: z
    .boolean()
    .describe('nobody has launched yet: the administrator of the LMS may still have to activate the tool there'),
});
export type Registered = z.output<typeof Registered>;

/** A registration of an LMS (docs/design/records.md, LTI), with all the values that the LMS needs about the tool. */
export const RegistrationView = z
  .object({
    id: Uuid,
    name: z.string().meta({ description: 'of its resource; otherwise the client id', example: 'moodle' }),
    client_id: z.string().meta({ example: 'x7Fq2LrT0aBcDeF' }),
    issuer: z.string().meta({ example: 'https://moodle.example.org' }),
    platform_name: z.string().nullable().meta({ example: 'Moodle of the university' }),
    deployment_ids: z
      .array(z.string().meta({ example: '1' }))
      .describe('the deployments that may launch; none: every launch is refused'),
    deployment_policy: z
      .enum(['Listed', 'Confirm'])
      .describe('Confirm: deployments that are not listed wait until an administrator admits them'),
    waiting_deployments: z.int().describe('how many wait').meta({ example: 0 }),
    scope: z.string().meta({ example: 'openid' }),
    is_active: z.boolean(),
    managed_by: z.string().nullable().meta({
      description: '`kubernetes`: a Kubernetes resource defines it, and only that may change it',
      example: 'kubernetes',
    }),
    managed_ref: z.string().nullable().meta({ description: 'the resource, as `namespace/name`', example: 'default/moodle' }),
    login_initiation_url: z.string().meta({ example: 'https://lti.biology.example.org/login_initiation' }),
    redirect_uri: z.string().meta({ example: 'https://lti.biology.example.org/launch' }),
    launch_url: z.string().meta({ example: 'https://biology.example.org/lti/launch' }),
    jwks_url: z.string().meta({ example: 'https://lti.biology.example.org/.well-known/jwks.json' }),
    public_key_ids: z
      .array(z.string().meta({ example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' }))
      .describe('of the published keys, the one that signs first'),
    registered: Registered.nullable().describe('null: not by Dynamic Registration'),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'LtiRegistration' });
export type RegistrationView = z.output<typeof RegistrationView>;

export const RegistrationPage = pageOf(RegistrationView).meta({ id: 'LtiRegistrationPage' });
export const REGISTRATION_SORT_FIELDS = ['name', 'created_at'] as const;
export const RegistrationQuery = z.object(pageQueryOf(REGISTRATION_SORT_FIELDS));
export type RegistrationQuery = z.output<typeof RegistrationQuery>;

const PLATFORM_NAME_MAX = 255;

export const NewRegistrationLink = z.object({
  platform_name: label(PLATFORM_NAME_MAX)
    .optional()
    .meta({ description: 'what people call the LMS', example: 'Moodle of the university' }),
});
export type NewRegistrationLink = z.output<typeof NewRegistrationLink>;

export const RegistrationLink = z
  .object({
    url: z.string().meta({
      description: 'paste it into the LMS; it registers one LMS, and is shown only once',
      example: 'https://lti.biology.example.org/register/3Xb0m8yq1cTt6oJ9wq2dPz7fVnLk5RgHs4UeAiMxBYQ',
    }),
    expires_at: Timestamp,
  })
  .meta({ id: 'LtiRegistrationLink' });
export type RegistrationLink = z.output<typeof RegistrationLink>;
