import { z } from 'zod';
import { invalid, Problem } from '../../api/problem.ts';
import { EgressError, type EgressErrorCode } from '../../net/egress-error.ts';
import { shownText } from '../../net/shown-text.ts';
import { canonicalTag } from '../../runtime/language-tags.ts';
import type { HelperKind } from '../helper.ts';

/** Names of the helpers for people. */
export const NAMES: Readonly<Record<HelperKind, string>> = {
  translate: 'translator',
  pdf_optimize: 'PDF optimizer',
  pdf_translate: 'PDF translator',
};

/** Retry time of a client if the helper names none. */
const RETRY_SECONDS = 10;
const RETRY_SECONDS_MAX = 300;

/** Errors that a later attempt may avoid. */
const PASSING = new Set<EgressErrorCode>([
  'dns_failed',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'connection_lost',
  'timeout',
]);

/** The helper is unavailable; a later attempt may succeed. */
export const unavailable = (kind: HelperKind, what: string, retryAfter = RETRY_SECONDS, cause?: unknown): Problem =>
  new Problem('helper_unavailable', sentence(kind, what), { retryAfter, cause });

/** The helper's answer cannot be used, and a later attempt would get the same. */
export const rejected = (kind: HelperKind, what: string, cause?: unknown): Problem =>
  new Problem('helper_rejected', sentence(kind, what), { cause });

/** `what` may end with the helper's own message. */
const sentence = (kind: HelperKind, what: string): string => `The ${NAMES[kind]} ${what.replace(/[.\s]+$/, '')}.`;

/**
 * Returns the Problem of a request that got no complete answer. Returns any other error unchanged, including an abort of our own.
 */
export function problemOfError(kind: HelperKind, error: unknown): unknown {
  if (!(error instanceof EgressError) || error.code === 'aborted') return error;
  if (PASSING.has(error.code)) return unavailable(kind, `did not answer: ${error.message}`, RETRY_SECONDS, error);
  return rejected(kind, `cannot be used: ${error.message}`, error);
}

/**
 * Returns the Problem that a status other than 200 means. `text`: the beginning of its body. A translator's 400 concerns the
 * languages or the text, and its own message explains it.
 */
export function problemOfStatus(
  kind: HelperKind,
  { status, retryAfter, text }: { status: number; retryAfter: string | undefined; text: string },
  token: string | null,
): Problem {
  const words = wordsOf(text, token === null ? [] : [token]);
  const said = words === '' ? '' : `: ${words}`;
  if (status >= 500) return unavailable(kind, `answered ${status}${said}`, secondsOf(retryAfter));
  if (status === 400 && kind !== 'pdf_optimize')
    return invalid('target_language', words === '' ? 'the translator refuses it' : words);
  const code = status === 422 && kind !== 'translate' ? Mark.safeParse(jsonOf(text)).data?.error : undefined;
  if (code) return new Problem(code);
  if (status === 401 || status === 403) return rejected(kind, `refuses our token (${status})${said}`);
  if (status >= 300 && status < 400) return rejected(kind, `redirects (${status}), but redirects are not followed`);
  return rejected(kind, `answered ${status}${said}`);
}

function secondsOf(retryAfter: string | undefined): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : RETRY_SECONDS;
  return Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX);
}

/** Findings of our own helpers about a PDF that the scan of its bytes did not reveal. */
const Mark = z.object({ error: z.enum(['pdf_signed', 'pdf_encrypted']) });

const Refusal = z.union([
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
]);

function wordsOf(text: string, secrets: readonly string[]): string {
  const said = Refusal.safeParse(jsonOf(text));
  return shownText(said.success ? said.data : text, secrets);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Translation {
  readonly text: string;
  /** Null: neither the client nor the helper names it. */
  readonly sourceLanguage: string | null;
  readonly provider: string | null;
}

/** Maximum of the text; a translation of 50,000 characters is rarely twice as long. */
const TEXT_MAX = 500_000;
const PROVIDER_MAX = 100;

const Text = z.string().max(TEXT_MAX);
const Optional = z.unknown().optional();
/** The accepted replies: the contract's, one that names the text `translated_text`, and LibreTranslate's. */
const Reply = z.union([
  z
    .object({ text: Text, source_language: Optional, provider: Optional })
    .transform(({ text, source_language: source, provider }) => ({ text, source, provider })),
  z
    .object({ translated_text: Text, source_language: Optional, provider: Optional })
    .transform(({ translated_text: text, source_language: source, provider }) => ({ text, source, provider })),
  z
    .object({ translatedText: Text, detectedLanguage: Optional, provider: Optional })
    .transform(({ translatedText: text, detectedLanguage, provider }) => ({
      text,
      source: languageIn(detectedLanguage),
      provider,
    })),
]);

const languageIn = (detected: unknown): unknown =>
  typeof detected === 'object' && detected !== null && 'language' in detected ? detected.language : detected;

/** Reads a translator's 200. A value that is not a language tag, or not a name, counts as missing. Throws `helper_rejected`. */
export function translationOf(type: string | undefined, body: Buffer): Translation {
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type ?? ''))
    throw rejected('translate', 'answered with something other than JSON');
  const read = Reply.safeParse(jsonOf(body.toString('utf8')));
  if (!read.success) throw rejected('translate', 'answered with JSON without a usable text');
  const { text, source, provider } = read.data;
  return {
    text: text.toWellFormed().replaceAll('\u0000', ''),
    sourceLanguage: typeof source === 'string' ? canonicalTag(source) : null,
    provider: typeof provider === 'string' ? shownText(provider, []).slice(0, PROVIDER_MAX).toWellFormed() || null : null,
  };
}

const LANGUAGES_MAX = 1_000;
const Tags = z.array(z.string().max(64)).max(LANGUAGES_MAX);
/** The formats of our own helpers and of LibreTranslate. */
const Languages = z.union([
  z.object({ targets: Tags, sources: Tags.optional() }).transform(({ targets, sources = targets }) => ({ targets, sources })),
  z
    .array(z.object({ code: z.string().max(64) }))
    .max(LANGUAGES_MAX)
    .transform((all) => all.map(({ code }) => code))
    .transform((codes) => ({ targets: codes, sources: codes })),
]);

/** Language tags in the helper's spelling. */
export interface HelperLanguages {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
}

/** Reads a helper's answer at /languages; null: it does not list its languages. */
export function languagesOf(text: string): HelperLanguages | null {
  const read = Languages.safeParse(jsonOf(text));
  if (!read.success) return null;
  const tags = (given: readonly string[]): string[] => given.filter((tag) => canonicalTag(tag) !== null);
  return { sources: tags(read.data.sources), targets: tags(read.data.targets) };
}
