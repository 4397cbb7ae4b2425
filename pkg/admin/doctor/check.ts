import { messageOf } from '../../runtime/command-error.ts';

/** The result of a check: a sentence about the good state, or sentences about what is wrong and what to do. */
export interface Finding {
  readonly subject: string;
  readonly ok?: string;
  readonly wrong?: readonly string[];
}

/** A check of its own: a failure is reported and does not prevent other checks. */
export interface Check {
  readonly subject: string;
  /** Returns the sentence of a good state, or those of what is wrong. */
  readonly run: () => Promise<string | readonly string[]>;
}

const CHECK_TIMEOUT_MS = 15_000;

export async function findingOf({ subject, run }: Check): Promise<Finding> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`)), CHECK_TIMEOUT_MS);
  try {
    const found = await Promise.race([run(), late.promise]);
    if (typeof found === 'string') return { subject, ok: found };
    return found.length === 0 ? { subject, ok: 'ok' } : { subject, wrong: found };
  } catch (error) {
    return { subject, wrong: [`cannot be checked: ${messageOf((error as Error).cause ?? error)}`] };
  } finally {
    clearTimeout(timer);
  }
}

const SUBJECT_WIDTH = 24;

/** Returns the printed lines: the subject once, each sentence on a line. */
export function linesOf({ subject, ok, wrong = [] }: Finding): string[] {
  const line = (text: string, index: number): string => `${(index === 0 ? subject : '').padEnd(SUBJECT_WIDTH)} ${text}`;
  return ok === undefined ? wrong.map((text, index) => line(`WRONG  ${text}`, index)) : [line(`ok     ${ok}`, 0)];
}
