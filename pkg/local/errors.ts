/**
 * Something of this machine is in the way (a port, a missing binary, a folder): the message is one line for the person at the
 * keyboard that says what is wrong, where, and what to do. Never printed with a stack.
 */
export class LocalError extends Error {
  override readonly name = 'LocalError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's code of an error (`ENOENT`, `EADDRINUSE`), if it has one. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;
