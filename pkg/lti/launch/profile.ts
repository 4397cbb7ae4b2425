import { z } from 'zod';
import type { LaunchMessage } from './id-token.ts';

/** The claims about the user that fit the user's columns. */
export interface Profile {
  readonly name: string | undefined;
  readonly email: string | undefined;
}

const Email = z.email().max(255);

export const emailOf = (said: unknown): string | undefined => Email.safeParse(said).data;

export const profileIn = ({ name, email }: LaunchMessage): Profile => ({ name, email: emailOf(email) });
