import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { PasswordByToken, PasswordReset } from './password-reset.schema.ts';
import type { PasswordResets } from './password-reset.service.ts';

export const passwordResetEndpoints = (resets: PasswordResets): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/users/{id}/password-reset',
    operationId: 'createPasswordReset',
    summary: 'Create a token with which a user sets a new password; only this reply shows it, and it replaces an earlier one',
    tag: 'users',
    caller: { permission: 'write:users' },
    params: z.object({ id: Uuid }),
    replies: { 201: PasswordReset },
    errors: ['not_found', 'conflict'],
    idempotent: 'sealed',
    handle: async ({ params }) => reply(201, await resets.create(params.id)),
  }),
  endpoint({
    method: 'post',
    path: '/auth/password-reset',
    operationId: 'resetPassword',
    summary: 'Set a new password with a reset token; all sessions end',
    tag: 'sign-in',
    caller: 'anyone',
    counts: 'login',
    body: PasswordByToken,
    replies: { 204: null },
    errors: ['invalid_reset_token'],
    handle: async ({ body }) => {
      await resets.use(body.token, body.new_password);
      return reply(204);
    },
  }),
];
