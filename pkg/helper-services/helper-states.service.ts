import type { Database } from '../store/postgres/database.ts';
import type { TenantSeal } from '../store/tenant-resources.ts';
import type { Breakers } from './calls/breakers.ts';
import type { HelperChecks } from './calls/helper-checks.ts';
import type { Helper, HelperKind } from './helper.ts';
import type { HelpersView, HelperState } from './helper-services.schema.ts';
import { helpersOf } from './helpers.sql.ts';

/** Shows which helper services the tenant has, and their state. */
export class HelperStates {
  readonly #db: Database;
  readonly #seal: TenantSeal;
  readonly #checks: HelperChecks;
  readonly #breakers: Breakers;

  constructor(deps: { db: Database; seal: TenantSeal; checks: HelperChecks; breakers: Breakers }) {
    this.#db = deps.db;
    this.#seal = deps.seal;
    this.#checks = deps.checks;
    this.#breakers = deps.breakers;
  }

  /** Takes one statement, and a request to each helper that was not checked within a minute. */
  async all(): Promise<HelpersView> {
    const helpers = await helpersOf(this.#db, this.#seal);
    const of = (kind: HelperKind): Promise<HelperState> => this.#stateOf(helpers.get(kind));
    const [translate, pdfOptimize, pdfTranslate] = await Promise.all([of('translate'), of('pdf_optimize'), of('pdf_translate')]);
    return { translate, pdf_optimize: pdfOptimize, pdf_translate: pdfTranslate };
  }

  async #stateOf(helper: Helper | undefined): Promise<HelperState> {
    if (!helper) return { configured: false, available: false };
    const { tenantId } = this.#seal;
    if (this.#breakers.isOpen(tenantId, helper.kind)) return { configured: true, available: false };
    const { answers, languages } = await this.#checks.at(tenantId, helper);
    const translates = helper.kind !== 'pdf_optimize' && languages !== null;
    return { configured: true, available: answers, ...(translates ? { languages: [...languages.targets] } : {}) };
  }
}
