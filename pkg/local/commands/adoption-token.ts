import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import { ADOPTION_TOKEN_HOURS, newAdoptionToken, NotRetained } from '../../store/postgres/adoption-token.ts';
import { sqlState } from '../../store/postgres/errors.ts';
import { SqlPool } from '../../store/postgres/pool.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { LocalError, messageOf } from '../errors.ts';
import { existingStateDirectory, paths } from '../state-directory.ts';

/** "schema does not exist", "relation does not exist": no operator of this version has run yet. */
const NO_REGISTRY = new Set(['3F000', '42P01']);

/** Prints a token for the retained data of this slug: the token alone on standard output, what to do with it on standard error. */
export async function adoptionToken(slug: string, options: { stateDirectory: string; shardsDir: string | undefined }): Promise<void> {
  const dir = options.shardsDir || paths(existingStateDirectory(options.stateDirectory).path).shards;
  const pool = new SqlPool({ url: registryUrl(dir), poolSize: 1, log: silentLogger });
  try {
    const { token } = await newAdoptionToken(pool, slug, systemRandom);
    process.stdout.write(`${token}\n`);
    process.stderr.write(
      `Valid for ${ADOPTION_TOKEN_HOURS} hours, once: kubectl annotate --overwrite -n <namespace> tenant <name> carrel.dev/adopt=<token>\n`,
    );
  } catch (error) {
    throw refusalFor(error, slug);
  } finally {
    await pool.close();
  }
}

/** The first shard by name holds the registry. */
function registryUrl(dir: string): string {
  try {
    const [first] = readdirSync(dir)
      .filter((name) => !name.startsWith('.'))
      .toSorted();
    if (first !== undefined) return readFileSync(join(dir, first, 'url'), 'utf8').trim();
  } catch (error) {
    throw new LocalError(`${dir} holds no address of the registry (${messageOf(error)}). Set CARREL_SHARDS_DIR as the operator has it.`);
  }
  throw new LocalError(`${dir} holds no shard. Set CARREL_SHARDS_DIR as the operator has it.`);
}

function refusalFor(error: unknown, slug: string): unknown {
  if (error instanceof NotRetained) {
    if (error.state === undefined) return new LocalError(`there is no tenant with the slug ${slug}, and no data of one`);
    return new LocalError(
      error.state === 'active'
        ? `the data of ${slug} are in use by a Tenant. Delete that Tenant with deletionPolicy: Retain first`
        : `the data of ${slug} are being deleted and cannot be adopted any more`,
    );
  }
  if (error instanceof StoreUnavailableError) return new LocalError(`the registry does not answer: ${messageOf(error.cause ?? error)}`);
  if (NO_REGISTRY.has(sqlState(error) ?? ''))
    return new LocalError('the registry is not there yet. Start the operator of this version first');
  return error;
}
