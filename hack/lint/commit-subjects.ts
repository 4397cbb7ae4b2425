/** The rule for subjects of commits (CONTRIBUTING.md, How to write a commit). Pure; the subjects come in as text. */

/** The rule holds for the commits after this one. */
export const RULE_SINCE = '1f00581a';

const MAX_LENGTH = 72;
const FORM = /^[a-z0-9@_.,/ -]+: (?<verb>[a-z]+)[ ,]/;
/** "adds", "added", "adding": not imperative. */
const NOT_IMPERATIVE = /(?:[^s]s|ed|ing)$/;
/** Verbs that end so. */
const IMPERATIVE = new Set(['bring', 'embed', 'feed', 'focus', 'heed', 'need', 'ping', 'seed', 'speed', 'string']);

/** Returns what is wrong with the subject, in words, or undefined. */
export function subjectComplaint(subject: string): string | undefined {
  if (subject.length > MAX_LENGTH)
    return `has ${subject.length} characters; write at most ${MAX_LENGTH}, and the reason into the body`;
  const verb = FORM.exec(subject)?.groups?.['verb'];
  if (verb === undefined) return 'has another form than "package: verb …"';
  if (subject.endsWith('.')) return 'ends with a full stop; leave it out';
  if (NOT_IMPERATIVE.test(verb) && !IMPERATIVE.has(verb)) return `says "${verb}"; write the imperative`;
  return undefined;
}
