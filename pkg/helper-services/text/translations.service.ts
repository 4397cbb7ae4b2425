import { createHash } from 'node:crypto';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { TenantSeal } from '../../store/tenant-resources.ts';
import type { HelperCalls } from '../calls/helper-calls.ts';
import type { HelperChecks } from '../calls/helper-checks.ts';
import type { Helper, HelperKind } from '../helper.ts';
import { helpersOf } from '../helpers.sql.ts';
import { requireHelper } from '../require-helper.ts';
import type { TranslationRequest, TranslationView } from '../helper-services.schema.ts';

/** The lifetime of cached replies (docs/design/api-conventions.md, Caches). */
const TTL_SECONDS = 300;
/** Concurrent translations of one server: each may hold a text and its translation for as long as the helper takes. */
export const TRANSLATIONS_AT_ONCE = 16;
const BUSY_RETRY_SECONDS = 5;
const TAG = 'helpers';

/**
 * Translates texts while the client waits.
 *
 * Invariants:
 * - A text is sent only to the tenant's own helper, and its translation is cached for that tenant, helper, text and languages.
 * - At most TRANSLATIONS_AT_ONCE run at the same time; one more is refused at once.
 */
export class Translations {
  readonly #db: Database;
  readonly #seal: TenantSeal;
  readonly #cache: TaggedCache;
  readonly #calls: HelperCalls;
  readonly #checks: HelperChecks;
  #running = 0;

  constructor(deps: { db: Database; seal: TenantSeal; cache: TaggedCache; calls: HelperCalls; checks: HelperChecks }) {
    this.#db = deps.db;
    this.#seal = deps.seal;
    this.#cache = deps.cache;
    this.#calls = deps.calls;
    this.#checks = deps.checks;
  }

  /**
   * Takes one statement, and one round trip to Redis, or two if the translation is not cached. Throws `helper_not_configured`,
   * `helper_unavailable`, `helper_rejected`, `validation_failed`.
   */
  async translate(request: TranslationRequest, signal: AbortSignal): Promise<TranslationView> {
    const helper = requireHelper(await helpersOf(this.#db, this.#seal), 'translate');
    const cached = await this.#cache.lookup({ key: `translation:${digest(helper, request)}`, tags: [TAG] });
    if (cached.value !== undefined) return JSON.parse(cached.value) as TranslationView;
    const view = await this.#bounded(() => this.#ask(helper, request, signal));
    await cached.put(JSON.stringify(view), TTL_SECONDS);
    return view;
  }

  async #ask(
    helper: Helper,
    { text, target_language: wanted, source_language: named }: TranslationRequest,
    signal: AbortSignal,
  ): Promise<TranslationView> {
    const tenant = this.#seal.tenantId;
    const target = await this.#checks.spelling(tenant, helper, 'targets', wanted);
    const source = named === 'auto' ? null : await this.#checks.spelling(tenant, helper, 'sources', named);
    const translation = await this.#calls.translate(tenant, helper, { text, source, target }, signal);
    return {
      text: translation.text,
      source_language: source ?? translation.sourceLanguage,
      target_language: target,
      provider: translation.provider,
    };
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= TRANSLATIONS_AT_ONCE) {
      const message = `${TRANSLATIONS_AT_ONCE} translations are already in progress; try again later.`;
      throw new Problem('helper_unavailable', message, { retryAfter: BUSY_RETRY_SECONDS });
    }
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}

/** Hashes everything that the translation depends on. Texts may be secret, and Redis logs its keys. */
const digest = ({ url }: Helper, { text, target_language: target, source_language: source }: TranslationRequest): string =>
  createHash('sha256')
    .update(JSON.stringify(['translate' satisfies HelperKind, url, source, target, text]))
    .digest('hex');
