import { z } from 'zod';
import { text } from '../../api/schemas.ts';
import { UserView } from '../users/users.schema.ts';

export const Credentials = z
  .object({
    email: text(1, 255).meta({ example: 'ada@example.org' }),
    password: text(1, 1024).meta({ example: 'correct horse battery' }),
    cookie: z.boolean().optional().describe('for browsers: the refresh token comes as an HttpOnly cookie and not in the body'),
  })
  .meta({ id: 'Credentials' });

export const Refresh = z
  .object({ refresh_token: text(1, 200).meta({ description: 'missing: the cookie is used', example: 'vM3…' }).optional() })
  .meta({ id: 'Refresh' });

export const SignedIn = z
  .object({
    access_token: z.string().meta({ example: 'eyJhbGciOiJFUzI1NiJ9…' }),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'seconds', example: 900 }),
    refresh_token: z.string().optional().meta({ example: 'vM3…' }),
    user: UserView,
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.output<typeof SignedIn>;
