import { sqlState, translateError } from './errors.ts';

/** PostgreSQL, Appendix A: invalid_password. */
const INVALID_PASSWORD = '28P01';

/**
 * Logs in with the password, or with `next` if Postgres refuses it: a rotation changes the role's password while pods that know
 * both are running. The password that worked last is tried first. Throws what `connect` throws for the second.
 */
export function withEitherPassword<T>(connect: (password?: string) => Promise<T>, next: string | undefined): () => Promise<T> {
  if (next === undefined) return () => connect();
  let passwords: readonly [string | undefined, string | undefined] = [undefined, next];
  return async () => {
    const [first, second] = passwords;
    try {
      return await connect(first);
    } catch (error) {
      if (sqlState(translateError(error)) !== INVALID_PASSWORD) throw error;
      const opened = await connect(second);
      passwords = [second, first];
      return opened;
    }
  };
}
