import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { PLATFORM_CONNECTIONS } from '../../store/postgres/connection-budget.ts';
import { REVOKE_PUBLIC_RIGHTS } from '../../store/postgres/provisioning/public-rights.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { readIfThere, writeAtomically } from '../files.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import { lastLine, run } from '../binaries/run.ts';
import { isAlive } from '../processes.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { unprivileged, type UnprivilegedProgram } from './unprivileged.ts';

const SHARD_DATABASE = 'carrel';
const SUPERUSER = 'postgres';
const OPERATOR = 'carrel_operator';
const WORKER = 'carrel_worker';

const MAX_CONNECTIONS = 450;
/** PostgreSQL 16 keeps connections free for roles with pg_use_reserved_connections. */
const RESERVES_SINCE = 16;

/**
 * For tests: a crash of the machine may lose writes, and nothing is vacuumed, since hundreds of schemas come and go within
 * minutes. Their files lie in memory, where a gigabyte of log would be too much.
 */
const NOT_DURABLE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '256MB',
};

/**
 * PostgreSQL with one shard: a database that the operator's role owns, and the worker's role. The operator creates everything
 * else.
 */
export async function postgresSpec(
  stateDirectory: StateDirectory,
  program: string,
  options: { durable: boolean },
): Promise<ProgramSpec> {
  const runAs = await unprivileged(program, join(paths(stateDirectory.path).data, 'postgres'), dirname(dirname(program)));
  const settings = {
    listen_addresses: stateDirectory.settings.address,
    port: stateDirectory.settings.ports.postgres,
    unix_socket_directories: '',
    max_connections: MAX_CONNECTIONS,
    ...((await majorVersion(program)) >= RESERVES_SINCE ? { reserved_connections: PLATFORM_CONNECTIONS } : {}),
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    password_encryption: 'scram-sha-256',
    ...(options.durable ? {} : NOT_DURABLE),
  };
  const [command = '', ...args] = [
    ...runAs.prefix,
    runAs.program,
    '-D',
    runAs.data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  return {
    name: 'postgres',
    command,
    args,
    ...(runAs.uid === undefined || runAs.gid === undefined ? {} : { uid: runAs.uid, gid: runAs.gid }),
    after: [],
    stopSignal: 'SIGINT',
    prepare: async () => {
      await createCluster(stateDirectory, runAs);
      removeStrangersPid(runAs.data);
    },
    ready: () => asSuperuser(stateDirectory, 'postgres', async () => {}),
    afterReady: () => createShard(stateDirectory),
    explain: (log) =>
      log.includes('initialized by PostgreSQL version')
        ? `its data in ${runAs.data} belong to another major version; make clean deletes them`
        : undefined,
  };
}

async function majorVersion(program: string): Promise<number> {
  const { output } = await run(program, ['--version'], {});
  return Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1] ?? 0);
}

/** Creates the cluster under another name and renames it: a folder with the final name is complete. */
async function createCluster(stateDirectory: StateDirectory, program: UnprivilegedProgram): Promise<void> {
  if (existsSync(join(program.data, 'PG_VERSION'))) return;
  if (existsSync(program.data) && readdirSync(program.data).length > 0) {
    throw new CommandError(
      `${program.data} is not a complete PostgreSQL data directory. Restore a copy of it, or delete the data: make clean`,
    );
  }
  const temporary = `${program.data}.new`;
  rmSync(temporary, { recursive: true, force: true });
  const passwords = mkdtempSync(join(tmpdir(), 'carrel-initdb-'));
  const file = join(passwords, 'superuser');
  try {
    writeFileSync(file, stateDirectory.settings.secrets.postgresSuperuser, { mode: 0o600 });
    if (program.uid !== undefined && program.gid !== undefined)
      for (const path of [passwords, file]) chownSync(path, program.uid, program.gid);
    const flags = ['--encoding=UTF8', '--locale=C.UTF-8', `--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${file}`];
    const [command = '', ...args] = [...program.prefix, join(dirname(program.program), 'initdb'), '-D', temporary, ...flags];
    const { code, output } = await run(command, args, {
      ...(program.uid === undefined ? {} : { uid: program.uid }),
      ...(program.gid === undefined ? {} : { gid: program.gid }),
    });
    if (code !== 0) throw new CommandError(`initdb failed: ${lastLine(output)}`);
    rmSync(program.data, { recursive: true, force: true });
    renameSync(temporary, program.data);
  } finally {
    rmSync(passwords, { recursive: true, force: true });
  }
}

/**
 * Removes a stale pid. After a crash of the machine the pid in `postmaster.pid` may belong to another program, and Postgres would
 * refuse to start.
 */
function removeStrangersPid(data: string): void {
  const file = join(data, 'postmaster.pid');
  const pid = Number.parseInt(readIfThere(file) ?? '', 10);
  if (!Number.isInteger(pid) || process.platform !== 'linux' || !isAlive(pid)) return;
  if (!readIfThere(`/proc/${pid}/cmdline`)?.includes('postgres')) rmSync(file, { force: true });
}

async function asSuperuser<T>(
  stateDirectory: StateDirectory,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    ...hostOf(stateDirectory),
    database,
    user: SUPERUSER,
    password: stateDirectory.settings.secrets.postgresSuperuser,
    connectionTimeoutMillis: 3_000,
  });
  client.on('error', () => {}); // The connection was lost: the running query fails.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const hostOf = ({ settings }: StateDirectory): { host: string; port: number } => ({
  host: settings.address,
  port: settings.ports.postgres,
});

/** Asserts roles and database of the shard at each start, then writes the files that operator and worker read. */
async function createShard(stateDirectory: StateDirectory): Promise<void> {
  const { postgresOperator, postgresWorker } = stateDirectory.settings.secrets;
  await asSuperuser(stateDirectory, 'postgres', async (client) => {
    await assertRole(client, OPERATOR, `LOGIN CREATEROLE CREATEDB PASSWORD '${postgresOperator}'`);
    await assertRole(client, WORKER, `LOGIN NOINHERIT PASSWORD '${postgresWorker}'`);
    const known = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [SHARD_DATABASE]);
    if (known.rowCount === 0) await client.query(`CREATE DATABASE ${SHARD_DATABASE} OWNER ${OPERATOR}`);
    await client.query(`GRANT CONNECT ON DATABASE ${SHARD_DATABASE} TO ${WORKER}`);
    // The operator's own roles reach the worker through it: it must be able to grant and alter that role.
    await client.query(`GRANT ${WORKER} TO ${OPERATOR} WITH ADMIN OPTION`);
    const reserving = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = 'pg_use_reserved_connections'`);
    if (reserving.rowCount === 1)
      await client.query(`GRANT pg_use_reserved_connections TO ${OPERATOR}, ${WORKER} WITH INHERIT TRUE`);
    // Lets the operator bound the bytes that a tenant's queries write to the disk.
    await client.query(`GRANT SET ON PARAMETER temp_file_limit TO ${OPERATOR}`);
    // A tenant's role has no business there, and the operator deletes what it may have left.
    await client.query(`REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC`);
    await client.query(`GRANT CONNECT ON DATABASE postgres, template1 TO ${OPERATOR}`);
  });
  await asSuperuser(stateDirectory, SHARD_DATABASE, (client) => client.query(REVOKE_PUBLIC_RIGHTS));
  const folder = join(paths(stateDirectory.path).shards, 'main');
  writeAtomically(join(folder, 'url'), postgresUrl(stateDirectory, OPERATOR, postgresOperator));
  writeAtomically(join(folder, 'worker-url'), postgresUrl(stateDirectory, WORKER, postgresWorker));
  writeAtomically(join(folder, 'tenant-address'), addressOf(stateDirectory, 'postgres'));
}

/** `attributes` contains a generated password of letters, digits, - and _ only. */
async function assertRole(client: Client, name: string, attributes: string): Promise<void> {
  const known = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name]);
  await client.query(`${known.rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${name} ${attributes}`);
}

const postgresUrl = (stateDirectory: StateDirectory, role: string, password: string): string =>
  `postgres://${role}:${password}@${addressOf(stateDirectory, 'postgres')}/${SHARD_DATABASE}`;

/** Returns the URLs that the test harness uses. */
export const postgresUrls = (stateDirectory: StateDirectory) => ({
  superuser: postgresUrl(stateDirectory, SUPERUSER, stateDirectory.settings.secrets.postgresSuperuser),
  operator: postgresUrl(stateDirectory, OPERATOR, stateDirectory.settings.secrets.postgresOperator),
  worker: postgresUrl(stateDirectory, WORKER, stateDirectory.settings.secrets.postgresWorker),
  tenantAddress: addressOf(stateDirectory, 'postgres'),
});
