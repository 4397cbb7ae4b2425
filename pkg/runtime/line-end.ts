/**
 * A value without the line end that editors, `echo` and here-documents put behind it. One only, and nothing else: what else
 * stands there, a person meant.
 */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

/** The environment of a program, of which many values come from Secrets. */
export const withoutLineEnds = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === undefined ? value : withoutLineEnd(value)]));
