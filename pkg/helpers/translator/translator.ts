import { Histogram } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { lookUpTag } from '../../runtime/language-tags.ts';
import { knownTag, type Languages } from '../languages.ts';
import { Refusal } from '../refusal.ts';
import { TextRefused } from './ask.ts';
import type { Provider } from './provider.ts';
import { batchesOf, segmentsOf } from './segments.ts';
import { HOUR_MS } from '../../runtime/time.ts';

export interface Translation {
  readonly text: string;
  /** Canonical (BCP 47); null if unknown. */
  readonly source: string | null;
  /** The provider that translated. */
  readonly provider: string;
}

/** How long a failed provider comes last, and how long its list of languages is cached. */
const LAST_AFTER_FAILURE_MS = 30_000;
const LANGUAGES_MS = HOUR_MS;
const RETRY_SECONDS = 10;

interface Route {
  readonly source: string | null;
  readonly target: string;
}

/**
 * Translates with the first provider, in the configured order, that knows the languages and works.
 *
 * Invariants:
 * - The reply names the provider; parts of one text never come from two providers.
 * - A failed provider delays no later request by its time-out: it comes last for 30 s. A provider that refuses a text does not:
 *   otherwise a sender of such texts would choose the provider of everyone else.
 */
export class Translator {
  readonly #providers: readonly Provider[];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #seconds: Histogram;
  readonly #failed = new Map<Provider, number>();
  readonly #languages = new Map<Provider, { until: number; languages: Languages }>();

  constructor(deps: { providers: readonly Provider[]; clock: Clock; log: Logger; metrics: Metrics }) {
    this.#providers = deps.providers;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#seconds = new Histogram({
      name: 'carrel_helper_provider_seconds',
      help: 'Requests to translation providers, by provider and outcome (ok, failed)',
      labelNames: ['provider', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers: [deps.metrics],
    });
  }

  /** Returns canonical tags of all answering providers, sorted. */
  async languages(signal: AbortSignal): Promise<{ sources: string[]; targets: string[]; providers: string[] }> {
    const known = await Promise.all(
      this.#providers.map(async (provider) => ({ provider, languages: await this.#tryLanguages(provider, signal) })),
    );
    const answering = known.flatMap(({ provider, languages }) => (languages ? [{ name: provider.name, languages }] : []));
    const tags = (side: 'sources' | 'targets'): string[] =>
      [...new Set(answering.flatMap(({ languages }) => languages[side].map((tag) => knownTag(tag, side))))].toSorted();
    return { sources: tags('sources'), targets: tags('targets'), providers: answering.map(({ name }) => name) };
  }

  /**
   * `source` null: it is detected. Throws `language_unknown`, `source_language_unclear`, `validation_failed` if all refuse the
   * text, `unavailable`, or the signal's reason.
   */
  async translate(text: string, languages: { source: string | null; target: string }, signal: AbortSignal): Promise<Translation> {
    const { texts, ...translation } = await this.translateAll([text], languages, signal);
    return { text: texts[0] ?? '', ...translation };
  }

  /** Like translate; all texts have the same source language. */
  async translateAll(
    texts: readonly string[],
    languages: { source: string | null; target: string },
    signal: AbortSignal,
  ): Promise<Omit<Translation, 'text'> & { texts: string[] }> {
    const target = knownTag(languages.target, 'target_language');
    const source = languages.source === null ? null : knownTag(languages.source, 'source_language');
    let hasFailed = false;
    let refused: Refusal | undefined;
    for (const provider of this.#inOrder()) {
      const known = await this.#tryLanguages(provider, signal);
      hasFailed ||= known === undefined;
      const route = known && routeOf(known, source, target);
      if (!route) continue;
      try {
        const translated = await this.#by(provider, texts, route, signal);
        return { ...translated, provider: provider.name };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Refusal) refused = error;
        else if (error instanceof TextRefused) refused ??= this.#noteRefusal(provider, error);
        else hasFailed = this.#noteFailure(provider, error);
      }
    }
    if (hasFailed) throw new Refusal('unavailable', undefined, RETRY_SECONDS);
    if (refused) throw refused;
    const { sources, targets } = await this.languages(signal);
    const pair = source === null ? `into ${target}` : `from ${source} into ${target}`;
    throw new Refusal(
      'language_unknown',
      `No translator here translates ${pair}. From: ${sources.join(', ')}. Into: ${targets.join(', ')}.`,
    );
  }

  async #by(
    provider: Provider,
    texts: readonly string[],
    route: Route,
    signal: AbortSignal,
  ): Promise<{ texts: string[]; source: string | null }> {
    const translations: string[] = [];
    let { source } = route;
    const segments = texts.map((text) => segmentsOf(text, provider.most.characters));
    for (const batch of batchesOf(segments.flat().filter(hasText), provider.most)) {
      const end = this.#seconds.startTimer({ provider: provider.name });
      try {
        // Spaces around a part belong to the text, and services remove them.
        const translated = await provider.translate(
          batch.map((part) => part.trim()),
          source,
          route.target,
          signal,
        );
        if (translated.texts.length !== batch.length)
          throw new Error(`${translated.texts.length} translations of ${batch.length} texts`);
        translations.push(...translated.texts.map((part, index) => spacedAs(batch[index] ?? '', part)));
        // The language of the beginning counts for the whole text.
        source ??= translated.source;
        end({ outcome: 'ok' });
      } catch (error) {
        if (!signal.aborted && !(error instanceof Refusal)) end({ outcome: 'failed' });
        throw error;
      }
    }
    const next = translations.values();
    const joined = segments.map((parts) => parts.map((part) => (hasText(part) ? (next.next().value ?? '') : part)).join(''));
    return { texts: joined, source: source === null ? null : knownTag(source, 'source_language') };
  }

  #inOrder(): Provider[] {
    const now = this.#clock.now().getTime();
    const isLast = (provider: Provider): boolean => (this.#failed.get(provider) ?? 0) > now;
    return [...this.#providers.filter((each) => !isLast(each)), ...this.#providers.filter(isLast)];
  }

  async #tryLanguages(provider: Provider, signal: AbortSignal): Promise<Languages | undefined> {
    const now = this.#clock.now().getTime();
    const cached = this.#languages.get(provider);
    if (cached && cached.until > now) return cached.languages;
    try {
      const languages = await provider.languages(signal);
      this.#languages.set(provider, { until: now + LANGUAGES_MS, languages });
      return languages;
    } catch (error) {
      signal.throwIfAborted();
      this.#noteFailure(provider, error);
      return cached?.languages;
    }
  }

  #noteRefusal(provider: Provider, error: TextRefused): Refusal {
    this.#log.info({ err: error, provider: provider.name }, 'translation provider refused a text');
    return new Refusal('validation_failed', 'text: no translator here accepts it.');
  }

  #noteFailure(provider: Provider, error: unknown): true {
    this.#failed.set(provider, this.#clock.now().getTime() + LAST_AFTER_FAILURE_MS);
    this.#log.warn({ err: error, provider: provider.name }, 'translation provider failed');
    return true;
  }
}

function routeOf(known: Languages, source: string | null, target: string): Route | undefined {
  const to = lookUpTag(target, known.targets);
  if (to === undefined) return undefined;
  if (source === null) return known.detects ? { source: null, target: to } : undefined;
  const from = lookUpTag(source, known.sources);
  return from === undefined || known.allows?.(from, to) === false ? undefined : { source: from, target: to };
}

/** Services return nothing for blanks, or refuse them. */
const hasText = (part: string): boolean => part.trim() !== '';

function spacedAs(original: string, translated: string): string {
  const lead = original.slice(0, original.length - original.trimStart().length);
  return `${lead}${translated.trim()}${original.slice(original.trimEnd().length)}`;
}
