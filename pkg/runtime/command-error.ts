/**
 * A command of a person cannot be done: the message is one line for that person that says what is wrong, where, and what to do.
 * Never printed with a stack.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's code of an error (`ENOENT`, `EADDRINUSE`), if it has one. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
