import { type Installation, requireKeys } from '../installation.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { SealingKey } from '../../runtime/sealing.ts';
import { LockTimeout } from '../../store/postgres/errors.ts';
import { UnknownMigrations } from '../../store/postgres/provisioning.ts';
import { type Backup, backUp } from '../../tenantdata/backup.ts';
import { pruneBackups } from '../../tenantdata/prune-backups.ts';
import type { Progress } from '../../tenantdata/copy-objects.ts';
import { forEach } from '../../tenantdata/each.ts';
import { isFinished, type Manifest, stampsIn } from '../../tenantdata/manifest.ts';
import { type Repository, RepositoryError } from '../../tenantdata/repository/repository.ts';
import { restore, RestoreRefused } from '../../tenantdata/restore.ts';
import { openBackup, verifyBackup } from '../../tenantdata/verify.ts';
import { repositoryOf } from '../backup-repository.ts';
import { CommandError, messageOf } from '../../runtime/command-error.ts';
import { type InstallationAccess, withInstallation } from '../installation-access.ts';
import { MINUTE_MS } from '../../runtime/time.ts';

interface Options {
  readonly installation: Installation;
  /** The environment of the person who runs the command, with the key of the repository's bucket. */
  readonly env: NodeJS.ProcessEnv;
}

const PROGRESS_MS = 5_000;
/** Tenants that are backed up at once, so that some that answer slowly do not use up the time of the others. */
const AT_ONCE = 4;

interface BackupOptions extends Options {
  readonly to: string;
  /** The number of backups of each tenant to keep; undefined: all. */
  readonly keep: number | undefined;
  /** Time limit for each tenant, so that slow storage does not prevent the others' backups; undefined: no limit. */
  readonly mostMs: number | undefined;
}

/** Backs up tenants, four at once, or all if none is named. Returns true if each has a backup with all its objects. */
export async function backUpTenants(
  slugs: readonly string[],
  { to, keep, mostMs, installation, env }: BackupOptions,
): Promise<boolean> {
  return atRepository(to, env, (repository) =>
    withInstallation(installation, async (access) => {
      const wanted = slugs.length > 0 ? slugs : await allSlugs(access, repository);
      let failures = 0;
      await forEach(eachOf(wanted), AT_ONCE, async (slug) => {
        const isWhole = await backUpOne(access, repository, slug, { keep, mostMs }).catch((error: unknown) => {
          // A tenant that fails does not prevent the backups of the others.
          if (wanted.length === 1) throw error;
          process.stderr.write(`${slug}: ${messageOf(error)}\n`);
          return false;
        });
        if (!isWhole) failures += 1;
      });
      if (wanted.length > 1)
        process.stdout.write(`${wanted.length - failures} of ${wanted.length} tenants are backed up completely.\n`);
      return failures === 0;
    }),
  );
}

async function* eachOf(slugs: readonly string[]): AsyncGenerator<string> {
  yield* slugs;
}

/**
 * Returns the slugs in the order of backups. Tenants that have waited longest come first, so that each has a turn if the time
 * does not suffice for all. Tenants with a store of their own come last, since nobody knows how long that takes. Tenants whose
 * data are being removed are omitted.
 */
async function allSlugs({ registry, storageOf }: InstallationAccess, repository: Repository): Promise<string[]> {
  const tenants = (await registry.list()).filter(({ state }) => state !== 'deleting');
  const turns: { slug: string; turn: string }[] = [];
  for (const { slug } of tenants) {
    const last = [...(await stampsIn(repository, slug)).keys()].at(-1) ?? '';
    // A tenant whose storage cannot be read fails soon.
    const isNamed = await storageOf(slug).then(
      (storage) => storage.isNamed,
      () => false,
    );
    turns.push({ slug, turn: `${Number(isNamed)} ${last}` });
  }
  return turns.toSorted((a, b) => Number(a.turn > b.turn) - Number(a.turn < b.turn)).map(({ slug }) => slug);
}

async function backUpOne(
  access: InstallationAccess,
  repository: Repository,
  slug: string,
  { keep, mostMs }: Pick<BackupOptions, 'keep' | 'mostMs'>,
): Promise<boolean> {
  const tenant = await access.tenant(slug);
  const { objects } = await access.storageOf(slug);
  if (repository.name.startsWith(`s3://${objects.bucket}/`))
    throw new CommandError(
      `${repository.name} is the bucket of ${slug} itself. A backup there is lost with it; name another one`,
    );
  const source = {
    slug,
    tenantId: tenant.tenantId,
    installation: await access.registry.installation(),
    pool: access.shardOf(tenant),
    objects,
    platformKey: access.platformKeys[0] as SealingKey,
  };
  const backup = await watched(
    slug,
    (onProgress, signal) => backUp(source, { repository, clock: systemClock, signal, onProgress }),
    mostMs,
  );
  process.stdout.write(`${slug}: ${describe(backup, repository)}\n`);
  if (keep !== undefined) {
    const deleted = await pruneBackups(repository, slug, { keep, keys: access.platformKeys, now: systemClock.now() });
    if (deleted.length > 0) process.stdout.write(`${slug}: deleted ${deleted.join(', ')}; the newest ${keep} are kept.\n`);
  }
  return reportMissing(slug, backup.manifest.missing);
}

function describe({ stamp, manifest, copied }: Backup, repository: Repository): string {
  const { objects } = manifest;
  const present = `${rowsOf(manifest)} rows, ${counted(objects.count, 'object')} (${bytesText(objects.bytes)})`;
  const fresh = `of which ${copied.objects} new (${bytesText(copied.bytes)})`;
  return `backed up to ${repository.name} as ${stamp}, and read back: ${present}, ${fresh}.`;
}

function reportMissing(slug: string, missing: readonly string[]): boolean {
  if (missing.length === 0) return true;
  process.stderr.write(
    `${slug}: ${counted(missing.length, 'object')} that rows name ${missing.length === 1 ? 'is' : 'are'} missing or damaged ` +
      `in its storage, such as ${missing[0]}. carrel doctor --tenant ${slug} names the files.\n`,
  );
  return false;
}

/** Lists the backups of a tenant, and reads all of them if `verify` is set. Returns true if nothing is wrong. */
export async function listBackups(
  slug: string,
  { at, verify, installation, env }: Options & { at: string; verify: boolean },
): Promise<boolean> {
  const keys = verify ? requireKeys(await installation.stores()) : [];
  return atRepository(at, env, async (repository) => {
    let isWell = true;
    let found = 0;
    for (const [stamp, files] of await stampsIn(repository, slug)) {
      found += 1;
      if (!isFinished(files)) {
        process.stdout.write(`${stamp}  unfinished: it was interrupted, or is running\n`);
        continue;
      }
      const wrong = await describeBackup(repository, { slug, stamp, keys, verify }).catch((error: unknown) => {
        // A damaged backup does not prevent the check of the others.
        if (error instanceof RepositoryError) return [error.message];
        throw error;
      });
      for (const text of wrong) process.stdout.write(`  WRONG  ${text}\n`);
      isWell &&= wrong.length === 0;
    }
    if (found === 0) throw new CommandError(`${repository.name} has no backup of ${slug}`);
    if (verify) process.stdout.write(isWell ? 'Every byte is as it was written.\n' : 'Something is wrong.\n');
    return isWell;
  });
}

/** Prints a backup, and returns its faults. */
async function describeBackup(
  repository: Repository,
  { slug, stamp, keys, verify }: { slug: string; stamp: string; keys: readonly SealingKey[]; verify: boolean },
): Promise<string[]> {
  const backup = await openBackup(repository, { slug, stamp }, keys);
  const { manifest } = backup;
  process.stdout.write(
    `${stamp}  ${rowsOf(manifest)} rows, ${counted(manifest.objects.count, 'object')} (${bytesText(manifest.objects.bytes)})` +
      `${manifest.missing.length > 0 ? `, without ${manifest.missing.length} that were lost` : ''}\n`,
  );
  if (!verify) return [];
  return watched(stamp, (onProgress, signal) => verifyBackup(repository, backup, { signal, onProgress }));
}

interface RestoreOptions extends Options {
  readonly from: string;
  /** The name of the backup; undefined: the newest. */
  readonly backup: string | undefined;
  /** The tenant that the backup is of; undefined: the target itself. */
  readonly of: string | undefined;
  readonly replace: boolean;
  /** Accept a backup that Carrel may not have made. */
  readonly unsigned: boolean;
  /** Accept a backup of a tenant that had the slug in another installation, or before it was deleted. */
  readonly former: boolean;
}

/** Restores a suspended tenant to the state of a backup. Returns true if no object is missing. */
export async function restoreTenant(slug: string, options: RestoreOptions): Promise<boolean> {
  const { from, backup: name, of = slug, replace, unsigned, former, installation, env } = options;
  return atRepository(from, env, (repository) =>
    withInstallation(installation, async (access) => {
      const { platformKeys, registry } = access;
      const backup = await openBackup(repository, { slug: of, stamp: name ?? (await newest(repository, of)) }, platformKeys);
      const { manifest, doubt } = backup;
      const tenant = await access.tenant(slug);
      const { objects } = await access.storageOf(slug);
      const { tenantId, credentials } = tenant;
      const target = { slug, tenantId, credentials, pool: access.shardOf(tenant), objects, registry };
      const time = { clock: systemClock, random: systemRandom };
      const restored = await watched(slug, (onProgress, signal) =>
        restore(target, { repository, backup, replace, unsigned, former, platformKeys, ...time, signal, onProgress }),
      );
      if (doubt !== undefined) process.stderr.write(`${slug}: ${doubt}. ${UNKNOWN}\n`);
      process.stdout.write(
        `${slug}: restored ${of === slug ? '' : `from ${of} `}as of ${manifest.takenAt}: ${rowsOf(manifest)} rows, ` +
          `${counted(restored.copied.objects, 'object')} (${bytesText(restored.copied.bytes)}) put back.\n`,
      );
      if (restored.unopenable > 0)
        process.stderr.write(
          `${slug}: ${counted(restored.unopenable, 'secret')} of webhooks or registrations cannot be opened ` +
            'by any of CARREL_PLATFORM_KEYS. Set them again.\n',
        );
      await forgetCaches(access, slug);
      process.stdout.write(afterwards(of === slug));
      return reportMissing(slug, restored.missing);
    }),
  );
}

const UNKNOWN =
  'So the people, rights, links, secrets and files may not be those that the tenant had: the author of the backup chose them. ' +
  'Check its administrators first.';

async function forgetCaches(access: InstallationAccess, slug: string): Promise<void> {
  const isDone = await access.forgetCaches(slug);
  if (!isDone)
    process.stdout.write(
      `${slug}: CARREL_REDIS_ADMIN_URL is not set, so cached data of its servers are still in Redis. ` +
        `Wait a day, or delete the keys t:${slug}:*, before you set suspended: false.\n`,
    );
}

const afterwards = (isSame: boolean): string =>
  `Set suspended: false in its Tenant. Everybody has to sign in again, with the passwords of that time. ` +
  `For a new password of the administrator delete the Secret <tenant>-admin.\n${
    isSame
      ? ''
      : 'Its webhooks and LTI registrations are inactive; those of resources belong to the other tenant and were omitted.\n'
  }`;

async function newest(repository: Repository, slug: string): Promise<string> {
  const finished = [...(await stampsIn(repository, slug))].filter(([, files]) => isFinished(files)).map(([stamp]) => stamp);
  const last = finished.at(-1);
  if (last === undefined) throw new CommandError(`${repository.name} has no backup of ${slug}`);
  return last;
}

async function atRepository<T>(text: string, env: NodeJS.ProcessEnv, work: (repository: Repository) => Promise<T>): Promise<T> {
  const repository = repositoryOf(text, env);
  try {
    return await work(repository);
  } catch (error) {
    if (error instanceof RepositoryError || error instanceof RestoreRefused || error instanceof UnknownMigrations)
      throw new CommandError(error.message);
    if (error instanceof LockTimeout)
      throw new CommandError(
        'the tables of the tenant are in use by a backup or a move; nothing has changed. Try again when that has ended',
      );
    throw error;
  } finally {
    repository.close();
  }
}

/** Reports progress on standard error. Ctrl-C ends the work at once, and so does the limit `mostMs`. */
async function watched<T>(
  what: string,
  work: (onProgress: Progress, signal: AbortSignal) => Promise<T>,
  mostMs?: number,
): Promise<T> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new CommandError(`${what}: stopped. The next run uses what was copied`));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const giveUp = (): void =>
    stopping.abort(
      new CommandError(
        `not done within ${(mostMs ?? 0) / MINUTE_MS} minutes: its storage is slow, or it has many new objects. ` +
          'The next run uses what was copied',
      ),
    );
  const timer = mostMs === undefined ? undefined : setTimeout(giveUp, mostMs);
  let said = performance.now();
  try {
    return await work(({ objects, bytes, of }) => {
      if (performance.now() - said < PROGRESS_MS) return;
      said = performance.now();
      process.stderr.write(`${what}: ${objects} of at most ${of} objects, ${bytesText(bytes)}\n`);
    }, stopping.signal);
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

const rowsOf = ({ tables }: Manifest): number => tables.reduce((sum, { rows }) => sum + rows, 0);
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

function bytesText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}
