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
import { SILENT_MS, watchAnswers } from './answers.ts';
import { finishMove } from './finish-move.ts';
import { addShared, type Loaded, type LoadedTable, loadTables } from './load.ts';
import { measure } from './measured.ts';
import { lastOf, migrationsIn, sharedRows } from './snapshot.ts';

interface MoveOptions {
  readonly slug: string;
  readonly move: Move;
  readonly registry: SqlPool;
  /** Both as their owner, without a bound of a statement's time. */
  readonly from: ShardAccess;
  readonly to: ShardAccess;
  readonly maxTenants: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Says in words what begins. */
  readonly onStep: (text: string) => void;
}

export interface Moved {
  readonly rows: number;
  /** From the first write that failed until the switch. */
  readonly readOnlyMs: number;
  /** Why what it left on the former shard is not removed yet; undefined: it is. */
  readonly left: string | undefined;
}

/** How long jobs of the tenant may still run. */
const JOBS_MS = 120_000;
const RETRY_MS = 500;
const LOCK_MS = 15_000;
const PASSWORD_BYTES = 24;

/**
 * Moves a tenant's rows to another shard. Its objects stay where they are.
 *
 * Invariants:
 * - Whatever was acknowledged is there afterwards: before the copy begins the tenant can only be read, its jobs and deliveries
 *   stop, and its tables are locked against everybody else's writes until they are removed in the transaction that had the locks.
 * - The registry decides, in one statement, where the tenant is. Cut off before it, the tenant stays where it is: within 30 s the
 *   operator mends the role. Cut off after it, the operator removes what is left (finishMove).
 * - The copy is read back and compared before the switch.
 * - A shard that no longer answers keeps the tenant read-only for some seconds, not for as long as the mover lives.
 *
 * Throws MoveRefused, ConnectionsExceeded, StoreUnavailableError.
 */
export async function moveTenant(options: MoveOptions): Promise<Moved> {
  const { slug, move, registry, from, to, maxTenants, clock, onStep } = options;
  await requireOtherServer(from.pool, to.pool, move);
  await requireSameRelease(from.pool, to.pool, move);
  await beginMove(registry, move, { pool: to.pool, maxTenants });
  const lease = keepLease(registry, move, clock);
  // The source too: it waits for the target, with the locks.
  const answers = watchAnswers({ pool: to.pool, clock }, () => [from, to].forEach(({ pool }) => pool.abandon()));
  let isSwitched = false;
  try {
    const { tenantId } = move;
    const tables = await tablesOf(from.pool, tenantRole(slug));
    onStep('it can only be read from now on');
    const began = clock.monotonic();
    // Before anything is made on the other shard: by this the operator finds what a mover has left that died
    // (pkg/operator/tenant/moves/moves.ts).
    await makeReadOnly(from, slug);
    // The operator gives it the tenant's own password once it is there; until then it opens nothing.
    await ensureTenantDatabase(to, { slug, tenantId, password: options.random.base64url(PASSWORD_BYTES), connections: 0 });
    await untilHeld(from.pool, slug, clock);
    let rows = 0;
    const copy = async (source: CopyingSql): Promise<void> => {
      await lockTables(source, slug, tables);
      onStep('its rows are copied');
      rows = await to.pool.copying((target) => copyRows({ source, target, slug, tenantId, tables }));
      await lease.require();
      onStep('the copy is as it should be');
      await disableLogin(from, slug);
      isSwitched = await switchShard(registry, move);
      if (!isSwitched) throw new MoveRefused(`${slug} was changed meanwhile; nothing has moved`);
      await removeRows(source, slug);
    };
    await from.pool.copying(copy, { isolation: 'repeatable read' }).catch((error: unknown) => {
      // What is left there is removed below.
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
    // Only what the registry says counts: the answer to the switch may have been lost.
    if (!isSwitched && (await giveUpMove(registry, move).catch(() => false))) {
      await makeWritable(from, slug).catch(() => undefined);
      // Where the copy stays, the operator finds it by the registry.
      await dropTenant(to, slug, { tenantId: move.tenantId })
        .then(() => forgetMove(registry, move))
        .catch(() => undefined);
      if (answers.isSilent)
        throw new MoveRefused(`shard ${move.to} has not answered for ${SILENT_MS / 1_000} s; nothing has moved`);
    }
    throw error;
  }
}

/** Databases of one server share their roles: the tenant's would be removed from the new one with the former. */
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
    throw new MoveRefused(`shard ${move.to} has no tables of Carrel yet. The operator makes them within some seconds; try again`);
  const [here, there] = [await migrationsIn(from, 'carrel'), await migrationsIn(to, 'carrel')];
  if (here.join() !== there.join())
    throw new MoveRefused(
      `shards ${move.from} and ${move.to} have other migrations. The operator brings both to its release; try again later`,
    );
}

/** Says again and again that the move goes on. */
function keepLease(registry: SqlPool, move: Move, clock: Clock): { require(): Promise<void>; end(): Promise<void> } {
  const stopping = new AbortController();
  let isLost = false;
  const keeping = (async () => {
    while (!stopping.signal.aborted && !isLost) {
      await clock.sleep(RENEW_MS, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      // One that does not answer may answer the next time; the switch looks again.
      isLost = !(await renewMove(registry, move).catch(() => true));
    }
  })();
  return {
    require: async () => {
      if (isLost || !(await renewMove(registry, move)))
        throw new MoveRefused('the move took too long to say that it goes on; nothing has moved');
    },
    end: async () => {
      stopping.abort();
      await keeping;
    },
  };
}

/** A job that runs may end; none begins from then on. */
async function untilHeld(pool: SqlPool, slug: string, clock: Clock): Promise<void> {
  const until = clock.monotonic() + JOBS_MS;
  while (!(await pool.transaction((tx) => holdJobs(tx, tenantRole(slug))))) {
    if (clock.monotonic() > until)
      throw new MoveRefused(`jobs of ${slug} still run after ${JOBS_MS / 1_000} s; nothing has moved`);
    await clock.sleep(RETRY_MS);
  }
}

/** Before the first statement that reads: the snapshot is of a moment at which nobody else writes. */
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

/** All rows of the tenant, those of the shared tables too; gives how many. */
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
    throw new MoveRefused(`the copy of table ${table.name} reads back otherwise than it was written; nothing has moved`);
}

/** Who waits for the tables fails: nothing is written there any more. */
async function removeRows(tx: CopyingSql, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await deleteShared(tx, role);
  await tx.query(`DROP SCHEMA ${quoteIdentifier(role)} CASCADE`);
}
