import { z } from 'zod';
import type { PlatformAddresses } from './platform-configuration.policy.ts';
import { RegistrationError } from './registration-error.ts';
import { type Asked, TOOL_CONFIGURATION } from './tool-registration.policy.ts';

/** The registration that an LMS granted. */
export interface Granted {
  readonly clientId: string;
  /** Null: the LMS sends it at the first launch. */
  readonly deploymentId: string | null;
  readonly scopes: readonly string[];
  /** A message type, followed by a colon and a placement if the LMS named one. */
  readonly placements: readonly string[];
}

const ID_MAX = 255;
const Id = z
  .union([z.string().min(1), z.number().int().transform(String)])
  .refine((id) => id.length <= ID_MAX && !/\p{C}/u.test(id), `must be 1 to ${ID_MAX} characters without control characters`);

const Answer = z.object({
  client_id: Id,
  issuer: z.string().optional().catch(undefined),
  redirect_uris: z.array(z.unknown()).optional().catch(undefined),
  token_endpoint_auth_method: z.string().optional().catch(undefined),
  /** RFC 7591 has a text; some LMSs send a list. */
  scope: z
    .union([z.string(), z.array(z.string()).transform((scopes) => scopes.join(' '))])
    .optional()
    .catch(undefined),
  [TOOL_CONFIGURATION]: z
    .object({
      deployment_id: z.union([Id, z.literal(''), z.null()]).optional(),
      messages: z.array(z.unknown()).optional().catch(undefined),
    })
    .nullish(),
});
const Message = z.object({ type: z.string(), placements: z.array(z.string()).nullish().catch(undefined) });

/**
 * Reads the answer to a registration (LTI Dynamic Registration 1.0 §3.6.2). Only what was asked counts as granted. An LMS that
 * does not say what it granted is assumed to have granted everything. Throws RegistrationError `registration_answer_invalid`.
 */
export function readAnswer(body: unknown, of: { platform: PlatformAddresses; asked: Asked; redirectUri: string }): Granted {
  const { platform, asked, redirectUri } = of;
  const parsed = Answer.safeParse(body);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.');
    throw new RegistrationError('registration_answer_invalid', field ? `It has no usable ${field}.` : 'It is not a JSON object.');
  }
  const { data } = parsed;
  const wrong = (what: string): never => {
    throw new RegistrationError('registration_answer_invalid', what);
  };
  if (data.issuer !== undefined && data.issuer !== platform.issuer) wrong('Its issuer differs from that of the configuration.');
  if (data.redirect_uris && data.redirect_uris.length > 0 && !data.redirect_uris.includes(redirectUri))
    wrong('Its redirect_uris does not include the launch address.');
  if (data.token_endpoint_auth_method !== undefined && data.token_endpoint_auth_method !== 'private_key_jwt')
    wrong('Its token_endpoint_auth_method is not private_key_jwt.');
  const scopes = data.scope?.split(' ');
  const tool = data[TOOL_CONFIGURATION];
  return {
    clientId: data.client_id,
    deploymentId: tool?.deployment_id || null,
    scopes: scopes ? asked.scopes.filter((scope) => scopes.includes(scope)) : asked.scopes,
    placements: placementsOf(tool?.messages, asked),
  };
}

/** Moodle names only deep linking, since each of its tools has resource links. */
function placementsOf(messages: readonly unknown[] | undefined, asked: Asked): string[] {
  const granted = messages?.flatMap((one) => Message.safeParse(one).data ?? []);
  return asked.messages.flatMap(({ type, placements }) => {
    const same = granted?.filter((message) => message.type === type);
    const isGranted = same === undefined || same.length > 0 || type === 'LtiResourceLinkRequest';
    if (!isGranted) return [];
    const named = same?.flatMap((message) => message.placements ?? []);
    const taken = named === undefined ? placements : placements.filter((one) => named.includes(one));
    return taken.length === 0 ? [type] : taken.map((placement) => `${type}:${placement}`);
  });
}
