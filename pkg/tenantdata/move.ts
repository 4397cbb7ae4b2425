import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import {
  columnList,
  COPY_SETTINGS,
  type DataTable,
  deleteShared,
  sharedTables,
  tablesOf,
} from '../store/postgres/data-tables.ts';
import {
  beginMove,
  forgetMove,
  giveUpMove,
  type Move,
  MoveRefused,
  RENEW_MS,
  renewMove,
  switchShard,
} from '../store/postgres/moves.ts';
import { type CopyingSql, quoteIdentifier, type SqlPool } from '../store/postgres/pool.ts';
import {
  disableLogin,
  dropTenant,
  ensureTenantDatabase,
  holdJobs,
  makeReadOnly,
  makeWritable,
  replaceSchema,
  type ShardAccess,
  tenantRole,
} from '../store/postgres/provisioning.ts';
import { SILENT_MS, watchAnswers } from './silent-server.ts';
import { finishMove } from './finish-move.ts';
import { addShared, type Loaded, type LoadedTable, loadTables } from './load-tables.ts';
import { measure } from './measured.ts';
import { lastOf, migrationsIn, sharedRows } from './snapshot.ts';

interface MoveOptions {
  readonly slug: string;
  readonly move: Move;
  readonly registry: SqlPool;
  /** Both with the owner's role, without a time limit for statements. */
  readonly from: ShardAccess;
  readonly to: ShardAccess;
  readonly maxTenants: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Reports in words the step that begins. */
  readonly onStep: (text: string) => void;
}

export interface Moved {
  readonly rows: number;
  /** From the first write that failed until the switch. */
  readonly readOnlyMs: number;
  /** The reason why leftovers on the former shard are not removed yet; undefined once they are. */
  readonly left: string | undefined;
}

/** Longest time that jobs of the tenant may still run. */
const JOBS_MS = 120_000;
const RETRY_MS = 500;
const LOCK_MS = 15_000;
const PASSWORD_BYTES = 24;

/**
 * Moves a tenant's rows to another shard. Its objects stay where they are.
 *
 * Invariants:
 * - Every acknowledged write survives. Before the copy begins the tenant becomes read-only and its jobs and deliveries stop. Its
 *   tables are locked against all other writers until the locking transaction removes them.
 * - The registry decides, in one statement, where the tenant is. If the move is interrupted before it, the tenant stays where it
 *   is: within 30 s the operator repairs the role. If it is interrupted after it, the operator removes what is left (finishMove).
 * - The copy is read back and compared before the switch.
 * - A shard that no longer answers keeps the tenant read-only for some seconds, not for the life of the mover.
 *
 * Throws MoveRefused, ConnectionsExceeded, StoreUnavailableError.
 */
export async function moveTenant(options: MoveOptions): Promise<Moved> {
  const { slug, move, registry, from, to, maxTenants, clock, onStep } = options;
  await requireOtherServer(from.pool, to.pool, move);
  await requireSameRelease(from.pool, to.pool, move);
  await beginMove(registry, move, { pool: to.pool, maxTenants });
  const lease = keepLease(registry, move, clock);
  // Abandons the source too: it waits for the target, with the locks.
  const answers = watchAnswers({ pool: to.pool, clock }, () => [from, to].forEach(({ pool }) => pool.abandon()));
  let isSwitched = false;
  try {
    const { tenantId } = move;
    const tables = await tablesOf(from.pool, tenantRole(slug));
    onStep('it is read-only from now on');
    const began = clock.monotonic();
    // Comes before anything is made on the other shard: this is how the operator finds what a dead mover has left
    // (pkg/operator/tenant/moves/moves.ts).
    await makeReadOnly(from, slug);
    // The operator sets the tenant's own password once the tenant is there; until then this one opens nothing.
    await ensureTenantDatabase(to, { slug, tenantId, password: options.random.base64url(PASSWORD_BYTES), connections: 0 });
    await untilHeld(from.pool, slug, clock);
    let rows = 0;
    const copy = async (source: CopyingSql): Promise<void> => {
      await lockTables(source, slug, tables);
      onStep('copying its rows');
      rows = await to.pool.copying((target) => copyRows({ source, target, slug, tenantId, tables }));
      await lease.require();
      onStep('the copy matches');
      await disableLogin(from, slug);
      isSwitched = await switchShard(registry, move);
      if (!isSwitched) throw new MoveRefused(`${slug} was changed meanwhile; nothing has moved`);
      await removeRows(source, slug);
    };
    await from.pool.copying(copy, { isolation: 'repeatable read' }).catch((error: unknown) => {
      // Leftovers there are removed below.
      if (!isSwitched) throw error;
    });
    const readOnlyMs = clock.monotonic() - began;
    await Promise.all([lease.end(), answers.end()]);
    const left = await finishMove({ slug, tenantId, registry, from, to }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { rows, readOnlyMs, left };
  } catch (error) {
    await Promise.all([lease.end(), answers.end()]);
    // Only the registry decides: the reply to the switch may have been lost.
    if (!isSwitched && (await giveUpMove(registry, move).catch(() => false))) {
      await makeWritable(from, slug).catch(() => undefined);
      // If the copy stays, the operator finds it by the registry.
      await dropTenant(to, slug, { tenantId: move.tenantId })
        .then(() => forgetMove(registry, move))
        .catch(() => undefined);
      if (answers.isSilent)
        throw new MoveRefused(`shard ${move.to} has not answered for ${SILENT_MS / 1_000} s; nothing has moved`);
    }
    throw error;
  }
}

/**
 * Databases of one server share their roles: removing the tenant's role with the former database would remove it from the new
 * one.
 */
async function requireOtherServer(from: SqlPool, to: SqlPool, move: Move): Promise<void> {
  const startOf = async (pool: SqlPool): Promise<string | undefined> =>
    (await pool.query<{ at: string }>('SELECT extract(epoch FROM pg_postmaster_start_time())::text AS at'))[0]?.at;
  if ((await startOf(from)) === (await startOf(to)))
    throw new MoveRefused(
      `shards ${move.from} and ${move.to} are databases of one server, which share their roles. Move to another server`,
    );
}

/** The copy has the migrations of its source, and both shards must have the same tables for all tenants. */
async function requireSameRelease(from: SqlPool, to: SqlPool, move: Move): Promise<void> {
  const [target] = await to.query<{ isReady: boolean }>(
    `SELECT to_regclass('carrel.schema_migrations') IS NOT NULL AS "isReady"`,
  );
  if (!target?.isReady)
    throw new MoveRefused(`shard ${move.to} has no tables of Carrel yet. The operator creates them within seconds; try again`);
  const [here, there] = [await migrationsIn(from, 'carrel'), await migrationsIn(to, 'carrel')];
  if (here.join() !== there.join())
    throw new MoveRefused(
      `shards ${move.from} and ${move.to} have different migrations. The operator migrates both to its release; try again later`,
    );
}

/** Renews the claim on the move until it is stopped. */
function keepLease(registry: SqlPool, move: Move, clock: Clock): { require(): Promise<void>; end(): Promise<void> } {
  const stopping = new AbortController();
  let isLost = false;
  const keeping = (async () => {
    while (!stopping.signal.aborted && !isLost) {
      await clock.sleep(RENEW_MS, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      // A registry that does not answer may answer the next time; the switch checks again.
      isLost = !(await renewMove(registry, move).catch(() => true));
    }
  })();
  return {
    require: async () => {
      if (isLost || !(await renewMove(registry, move)))
        throw new MoveRefused('the move did not renew its lease in time; nothing has moved');
    },
    end: async () => {
      stopping.abort();
      await keeping;
    },
  };
}

/** Waits for running jobs to end; none begins from then on. */
async function untilHeld(pool: SqlPool, slug: string, clock: Clock): Promise<void> {
  const until = clock.monotonic() + JOBS_MS;
  while (!(await pool.transaction((tx) => holdJobs(tx, tenantRole(slug))))) {
    if (clock.monotonic() > until)
      throw new MoveRefused(`jobs of ${slug} are still running after ${JOBS_MS / 1_000} s; nothing has moved`);
    await clock.sleep(RETRY_MS);
  }
}

/** Runs before the first statement that reads, so that nobody else writes at the moment of the snapshot. */
async function lockTables(tx: CopyingSql, slug: string, tables: readonly DataTable[]): Promise<void> {
  await tx.query(
    `${COPY_SETTINGS} SET LOCAL search_path = ${quoteIdentifier(tenantRole(slug))}, ext; SET LOCAL lock_timeout = ${LOCK_MS}`,
  );
  await tx.query(`LOCK TABLE ${columnList(tables.map(({ name }) => name))} IN SHARE MODE`);
}

interface Copying {
  readonly source: CopyingSql;
  readonly target: CopyingSql;
  readonly slug: string;
  readonly tenantId: string;
  readonly tables: readonly DataTable[];
}

/** Copies all rows of the tenant, including those of the shared tables. Returns their number. */
async function copyRows({ source, target, slug, tenantId, tables }: Copying): Promise<number> {
  const role = tenantRole(slug);
  await target.query(COPY_SETTINGS);
  const tableFrom = async (of: 'tenant' | 'shared', table: DataTable): Promise<LoadedTable> => ({
    name: table.name,
    columns: [...table.columns],
    ...(of === 'tenant' ? { last: await lastOf(source, role, table) } : {}),
    rowsOf: async () =>
      (await source.copyOut(
        `COPY (${of === 'tenant' ? allRows(table) : sharedRows(table, role)}) TO STDOUT`,
      )) as AsyncIterable<Buffer>,
  });
  let rows = 0;
  await replaceSchema(target, { slug, tenantId }, await migrationsIn(source, role), async () => {
    const wanted: LoadedTable[] = [];
    for (const table of tables) wanted.push(await tableFrom('tenant', table));
    const loaded = await loadTables(target, slug, wanted);
    for (const each of loaded) await requireSame(target, each);
    rows = loaded.reduce((sum, each) => sum + each.rows, 0);
  });
  const shared: LoadedTable[] = [];
  for (const table of await sharedTables(source)) shared.push(await tableFrom('shared', table));
  await deleteShared(target, role);
  await addShared(target, slug, shared);
  return rows;
}

const allRows = ({ name, columns }: Pick<DataTable, 'name' | 'columns'>): string =>
  `SELECT ${columnList(columns)} FROM ${quoteIdentifier(name)}`;

/** Reads the copy back. */
async function requireSame(target: CopyingSql, { table, rows, sha256 }: Loaded): Promise<void> {
  const copy = await measure((await target.copyOut(`COPY (${allRows(table)}) TO STDOUT`)) as AsyncIterable<Buffer>);
  if (copy.rows !== rows || copy.sha256 !== sha256)
    throw new MoveRefused(`the copy of table ${table.name} reads back differently from what was written; nothing has moved`);
}

/** Makes writers that wait for the tables fail, since nothing may be written there any longer. */
async function removeRows(tx: CopyingSql, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await deleteShared(tx, role);
  await tx.query(`DROP SCHEMA ${quoteIdentifier(role)} CASCADE`);
}
