/**
 * Removes the one line end that editors, `echo` and here-documents append, and nothing else: any other white space is
 * intentional.
 */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

/** Returns a program's environment without these line ends; many of its values come from Secrets. */
export const withoutLineEnds = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === undefined ? value : withoutLineEnd(value)]));
