import { readGauge } from '../../kube/metrics.ts';
import { isDeleting, keyOf, type ObjectKey } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import { sleepUnlessAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import { type Usage, usageOf } from '../../store/postgres/provisioning.ts';
import type { ObservedTenant, Tenant } from '../kinds.ts';
import type { TenantAccess } from '../tenant-rows.ts';

const HOUR_MS = 3_600_000;
/** Between two looks for tenants that are due. */
const LOOK_MS = 30_000;

interface Deps {
  readonly tenants: Store<Tenant>;
  readonly access: TenantAccess;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Left out: 30 s. */
  readonly lookMs?: number;
  /** Between two counts of a tenant; left out: an hour. */
  readonly everyMs?: number;
}

/**
 * What each tenant uses, for `status.usage` and the metrics.
 *
 * Invariants:
 * - A tenant is counted by its first reconcile that ends with a schema, and then once an hour, spread over the hour; a reconcile writes what changed.
 * - Where nothing changed, nothing is written.
 */
export class Usages {
  readonly #deps: Deps;
  /** The newest count by uid, and when the next is due (monotonic). */
  readonly #counted = new Map<string, { usage?: Usage; dueAt: number }>();

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
  }

  /** The newest count; of a tenant that has none in its status, it is made now. Undefined: the status keeps what it has. */
  async of(tenant: ObservedTenant): Promise<Usage | undefined> {
    const counted = this.#counted.get(tenant.metadata.uid)?.usage;
    return counted ?? (tenant.status?.usage ? undefined : this.#count(tenant));
  }

  /** Counts those that are due until the signal is aborted; `onChange` hears of each whose status says something else. */
  async run(onChange: (key: ObjectKey) => void, signal: AbortSignal): Promise<void> {
    const { tenants, clock, random, lookMs = LOOK_MS, everyMs = HOUR_MS } = this.#deps;
    this.#counted.clear();
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, lookMs, signal);
      const all = tenants.list();
      this.#forget(new Set(all.map(({ metadata }) => metadata.uid)));
      for (const tenant of all) {
        if (signal.aborted) return;
        const dueAt = this.#counted.get(tenant.metadata.uid)?.dueAt;
        if (isDeleting(tenant) || !tenant.status?.usage) continue;
        if (dueAt === undefined) this.#counted.set(tenant.metadata.uid, { dueAt: clock.monotonic() + everyMs * random.fraction() });
        else if (dueAt <= clock.monotonic() && isOther(await this.#count(tenant), tenant)) onChange(keyOf(tenant));
      }
    }
  }

  async #count(tenant: ObservedTenant): Promise<Usage | undefined> {
    const { access, clock, log, everyMs = HOUR_MS } = this.#deps;
    const { uid } = tenant.metadata;
    const dueAt = clock.monotonic() + everyMs;
    // Before the count: one that fails is not made again at each look, where it would hold up the others.
    this.#counted.set(uid, { ...this.#counted.get(uid), dueAt });
    try {
      const usage = await usageOf(await access.open(tenant));
      this.#counted.set(uid, { usage, dueAt });
      return usage;
    } catch (error) {
      log.debug({ err: error, tenant: tenant.metadata.name }, 'a tenant could not be counted; will retry');
      return undefined;
    }
  }

  #forget(present: ReadonlySet<string>): void {
    for (const uid of this.#counted.keys()) if (!present.has(uid)) this.#counted.delete(uid);
  }
}

const isOther = (usage: Usage | undefined, { status }: ObservedTenant): boolean =>
  usage !== undefined && (Object.keys(usage) as (keyof Usage)[]).some((field) => usage[field] !== status?.usage?.[field]);

const METRICS: Readonly<Record<keyof Usage, { readonly name: string; readonly help: string }>> = {
  users: { name: 'carrel_tenant_users', help: 'People of a tenant, counted once an hour.' },
  files: { name: 'carrel_tenant_files', help: 'Files of a tenant that are not in the trash, counted once an hour.' },
  bytes: { name: 'carrel_tenant_bytes', help: 'Bytes that count against the quotas of a tenant, counted once an hour.' },
  entries: {
    name: 'carrel_tenant_entries',
    help: 'Files and folders of a tenant with their versions after the first, share links and tags, counted once an hour.',
  },
  databaseBytes: { name: 'carrel_tenant_database_bytes', help: "Bytes of a tenant's tables and indexes, measured once an hour." },
};
