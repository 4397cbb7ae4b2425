import { z } from 'zod';
import { UserView } from '../users/users.schema.ts';

export const Credentials = z
  .object({
    email: z.string().min(1).max(255),
    password: z.string().min(1).max(1024),
    cookie: z.boolean().optional().describe('for browsers: the refresh token comes as an HttpOnly cookie and not in the body'),
  })
  .meta({ id: 'Credentials' });

export const Refresh = z
  .object({ refresh_token: z.string().min(1).max(200).optional().describe('left out: the cookie is used') })
  .meta({ id: 'Refresh' });

export const SignedIn = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().describe('seconds'),
    refresh_token: z.string().optional(),
    user: UserView,
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.output<typeof SignedIn>;
