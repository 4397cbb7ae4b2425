import { readGauge } from '../../../kube/metrics.ts';
import { isDeleting, keyOf, type ObjectKey } from '../../../kube/object.ts';
import { findCondition } from '../../../kube/status.ts';
import type { Store } from '../../../kube/store.ts';
import { sleepUnlessAborted } from '../../../runtime/abort.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Metrics } from '../../../runtime/metrics.ts';
import type { Random } from '../../../runtime/random.ts';
import { databaseBytesOf, type Usage, usageOf } from '../../../store/postgres/provisioning.ts';
import type { ObservedTenant, Tenant } from '../../kinds.ts';
import type { TenantAccess } from '../../tenant-rows.ts';
import { accessOf } from './limits.ts';
import { HOUR_MS } from '../../../runtime/time.ts';

/** The interval between two measurements of the tables, which cost next to nothing and decide whether the tenant may write. */
const MEASURE_MS = 300_000;
/** The interval between two searches for tenants that are due. */
const SEARCH_MS = 30_000;

interface Deps {
  readonly tenants: Store<Tenant>;
  readonly access: TenantAccess;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: SEARCH_MS. */
  readonly searchMs?: number;
  /** The interval between two counts of a tenant. Default: an hour. */
  readonly everyMs?: number;
  /** The interval between two measurements of its tables. Default: 5 minutes. */
  readonly measureMs?: number;
}

/** The newest count of a tenant, and when the next count and the next measurement are due (monotonic). */
interface Counted {
  readonly usage?: Usage;
  readonly dueAt: number;
  readonly measureAt: number;
}

/**
 * Counts what each tenant uses, for `status.usage` and the metrics.
 *
 * Invariants:
 * - A tenant is counted by its first reconcile that ends with a schema, and then once an hour, spread over the hour; a reconcile
 *   writes what changed.
 * - With `spec.limits` of bytes or files it is counted with each change of its spec and every 5 minutes too, so that its
 *   condition is not an hour late.
 * - Its tables are measured every 5 minutes too, and a reconcile is due where that changes what its role may do.
 * - Where nothing changed, nothing is written.
 */
export class Usages {
  readonly #deps: Deps;
  /** By the Tenant's uid. */
  readonly #counted = new Map<string, Counted>();

  constructor(deps: Deps) {
    this.#deps = deps;
    const { metrics, tenants } = deps;
    for (const [field, metric] of Object.entries(METRICS))
      readGauge(metrics, { ...metric, labelNames: ['namespace', 'tenant'] }, () =>
        tenants.list().flatMap(({ metadata: { namespace, name: tenant }, status }) => {
          const value = status?.usage?.[field as keyof Usage];
          return value === undefined ? [] : [[{ namespace, tenant }, value] as const];
        }),
      );
    readGauge(metrics, { ...AT_LIMIT, labelNames: ['namespace', 'tenant', 'reason'] }, () =>
      tenants.list().flatMap(({ metadata: { namespace, name: tenant }, status }) => {
        const limits = findCondition(status?.conditions, 'WithinLimits');
        return limits?.status === 'False' ? [[{ namespace, tenant, reason: limits.reason }, 1] as const] : [];
      }),
    );
  }

  /**
   * Returns the newest count. Counts now if the status has no count, or if the limits may have changed. Returns undefined if the
   * status is to stay unchanged.
   */
  async of(tenant: ObservedTenant): Promise<Usage | undefined> {
    const { metadata, status } = tenant;
    const isChanged = metadata.generation !== status?.observedGeneration;
    if (isChanged && isLimited(tenant)) return this.#count(tenant);
    return this.#counted.get(metadata.uid)?.usage ?? (status?.usage ? undefined : this.#count(tenant));
  }

  /** Returns the newest count, or that of the status if there is no newer one. Runs no statement. */
  newest({ metadata, status }: ObservedTenant): Partial<Usage> | undefined {
    return this.#counted.get(metadata.uid)?.usage ?? status?.usage;
  }

  /** Counts tenants that are due until the signal is aborted. Calls `onChange` for each tenant whose status must change. */
  async run(onChange: (key: ObjectKey) => void, signal: AbortSignal): Promise<void> {
    const { tenants, clock, random, searchMs = SEARCH_MS, everyMs = HOUR_MS, measureMs = MEASURE_MS } = this.#deps;
    this.#counted.clear();
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, searchMs, signal);
      const all = tenants.list();
      this.#forget(new Set(all.map(({ metadata }) => metadata.uid)));
      for (const tenant of all) {
        if (signal.aborted) return;
        const counted = this.#counted.get(tenant.metadata.uid);
        const now = clock.monotonic();
        if (isDeleting(tenant) || !tenant.status?.usage) continue;
        if (counted === undefined) {
          const [dueAt, measureAt] = [now + everyMs * random.fraction(), now + measureMs * random.fraction()];
          this.#counted.set(tenant.metadata.uid, { dueAt, measureAt });
        } else if (counted.dueAt <= now || (counted.measureAt <= now && isLimited(tenant))) {
          if (isOther(await this.#count(tenant), tenant)) onChange(keyOf(tenant));
        } else if (counted.measureAt <= now) {
          await this.#measure(tenant, counted);
          if (accessOf(tenant, this.newest(tenant)) !== accessOf(tenant, tenant.status.usage)) onChange(keyOf(tenant));
        }
      }
    }
  }

  async #count(tenant: ObservedTenant): Promise<Usage | undefined> {
    const { access, clock, log, everyMs = HOUR_MS, measureMs = MEASURE_MS } = this.#deps;
    const { uid } = tenant.metadata;
    const [dueAt, measureAt] = [clock.monotonic() + everyMs, clock.monotonic() + measureMs];
    // The due times are set before the count, so that a failing count is not repeated each time and does not delay the others.
    this.#counted.set(uid, { ...this.#counted.get(uid), dueAt, measureAt });
    try {
      const usage = await usageOf(await access.open(tenant));
      this.#counted.set(uid, { usage, dueAt, measureAt });
      return usage;
    } catch (error) {
      log.debug({ err: error, tenant: tenant.metadata.name }, 'a tenant could not be counted; will retry');
      return undefined;
    }
  }

  /** Measures the tables; the other values of the newest count stay. */
  async #measure(tenant: ObservedTenant, counted: Counted): Promise<void> {
    const { access, clock, log, measureMs = MEASURE_MS } = this.#deps;
    const { uid } = tenant.metadata;
    const next = { ...counted, measureAt: clock.monotonic() + measureMs };
    this.#counted.set(uid, next);
    const before = this.newest(tenant) as Usage | undefined;
    if (!before) return;
    try {
      const databaseBytes = await databaseBytesOf(await access.open(tenant));
      this.#counted.set(uid, { ...next, usage: { ...before, databaseBytes } });
    } catch (error) {
      log.debug({ err: error, tenant: tenant.metadata.name }, 'the tables of a tenant could not be measured; will retry');
    }
  }

  #forget(present: ReadonlySet<string>): void {
    for (const uid of this.#counted.keys()) if (!present.has(uid)) this.#counted.delete(uid);
  }
}

const isLimited = ({ spec: { limits } }: ObservedTenant): boolean => limits.storage !== undefined || limits.files !== undefined;

const isOther = (usage: Usage | undefined, { status }: ObservedTenant): boolean =>
  usage !== undefined && (Object.keys(usage) as (keyof Usage)[]).some((field) => usage[field] !== status?.usage?.[field]);

const AT_LIMIT = {
  name: 'carrel_tenant_at_limit',
  help: '1 for a tenant that has reached a limit of spec.limits (LimitReached), or can only be read (OverLimit).',
};

const METRICS: Readonly<Record<keyof Usage, { readonly name: string; readonly help: string }>> = {
  users: { name: 'carrel_tenant_users', help: 'People of a tenant, counted once an hour.' },
  files: { name: 'carrel_tenant_files', help: 'Files of a tenant that are not in the trash, counted once an hour.' },
  bytes: { name: 'carrel_tenant_bytes', help: 'Bytes that count against the quotas of a tenant, counted once an hour.' },
  entries: {
    name: 'carrel_tenant_entries',
    help: 'Files and folders of a tenant with their versions after the first, share links and tags, counted once an hour.',
  },
  databaseBytes: {
    name: 'carrel_tenant_database_bytes',
    help: "Bytes of a tenant's tables and indexes, measured every 5 minutes.",
  },
};
