/**
 * Removes the line end that editors, `echo` and here-documents append. It removes one only and nothing else: a person meant the
 * rest.
 */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

/** Returns a program's environment without these line ends; many of its values come from Secrets. */
export const withoutLineEnds = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === undefined ? value : withoutLineEnd(value)]));
