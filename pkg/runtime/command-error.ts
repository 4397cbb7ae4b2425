/**
 * A person's command cannot be carried out. The message is one line for that person: what is wrong, where, and what to do. It is
 * never printed with a stack.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the system's code of an error (`ENOENT`, `EADDRINUSE`), if it has one. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
