import { z } from 'zod';

/**
 * A registration that an LMS made by Dynamic Registration. The server leaves it for the operator
 * (`carrel.registration_requests`), which makes an LtiRegistration of it. A tenant can write anything there, so the operator
 * reads only these fields, within these limits.
 */
export const WantedRegistration = z.object({
  preset: z.enum(['moodle', 'canvas', 'blackboard', 'brightspace', 'sakai', 'generic']),
  issuer: z.string().min(1).max(500),
  name: z.string().min(1).max(255).nullable(),
  authEndpoint: z.string().min(1).max(500),
  tokenEndpoint: z.string().min(1).max(500),
  jwksEndpoint: z.string().min(1).max(500),
  tokenAudience: z.string().min(1).max(500).nullable(),
  clientId: z.string().min(1).max(255),
  deploymentId: z.string().min(1).max(255).nullable(),
});
export type WantedRegistration = z.output<typeof WantedRegistration>;
