import { z } from 'zod';
import { withoutLineEnds } from './line-end.ts';

/** A setting in the environment is missing or wrong. The message is one line for the person who sets it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads a program's settings from the environment by its one schema.
 * The schema's keys are the variables' names; each `.describe()` says what to set the variable to.
 * Many values come from Secrets, so a trailing line end is not part of a value.
 * Throws ConfigError naming the first wrong variable. It never repeats a value, which may be a secret.
 */
export function readConfig<S extends z.ZodObject>(program: string, schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const values = withoutLineEnds(env);
  const present = Object.fromEntries(Object.keys(schema.shape).flatMap((key) => (values[key] ? [[key, values[key]]] : [])));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const variable = String(issue?.path[0] ?? '');
  const wanted = schema.shape[variable]?.description;
  const advice = wanted ? `Set it to ${wanted} (docs/operate/settings.md).` : 'See docs/operate/settings.md.';
  const what = variable in present ? `is not valid: ${issue?.message ?? 'wrong value'}` : 'is missing';
  throw new ConfigError(`${program}: ${variable} ${what}. ${advice}`);
}

/** A whole number in the environment, within bounds. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** Parses the text with `read`; an error of `read` becomes the setting's error. */
export const readBy = <T>(read: (text: string) => T) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'wrong value' });
      return z.NEVER;
    }
  });

/** Returns true if `read` does not throw. For `refine`, whose own message then says what is wrong. */
export function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** The levels of the log. */
export const logLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info')
  .describe('fatal, error, warn, info, debug or trace');
