import { z } from 'zod';
import { text, Timestamp } from '../../api/schemas.ts';
import { NewPassword } from '../passwords.schema.ts';

export const PasswordReset = z
  .object({
    token: z.string().meta({ description: 'shown this once; for POST /auth/password-reset', example: 'vM3…' }),
    expires_at: Timestamp,
  })
  .meta({ id: 'PasswordReset' });
export type PasswordReset = z.output<typeof PasswordReset>;

export const PasswordByToken = z
  .object({ token: text(1, 200).meta({ example: 'vM3…' }), new_password: NewPassword })
  .meta({ id: 'PasswordByToken' });
