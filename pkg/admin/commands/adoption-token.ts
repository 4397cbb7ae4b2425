import type { Installation } from '../installation.ts';
import { systemRandom } from '../../runtime/random.ts';
import { ADOPTION_TOKEN_HOURS, newAdoptionToken, NotRetained } from '../../store/postgres/adoption-token.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { withRegistry } from '../registry-access.ts';

/** Prints a token for the retained data of this slug. Standard output gets only the token, standard error the instructions. */
export async function adoptionToken(slug: string, { installation }: { readonly installation: Installation }): Promise<void> {
  const { token } = await withRegistry(installation, (pool) => newAdoptionToken(pool, slug, systemRandom)).catch(
    (error: unknown) => {
      throw refusalFor(error, slug);
    },
  );
  process.stdout.write(`${token}\n`);
  process.stderr.write(
    `Valid for ${ADOPTION_TOKEN_HOURS} hours, once: ` +
      'kubectl annotate --overwrite -n <namespace> tenant <name> carrel.dev/adopt=<token>\n',
  );
}

function refusalFor(error: unknown, slug: string): unknown {
  if (error instanceof NotRetained) {
    if (error.state === undefined) return new CommandError(`there is no tenant with the slug ${slug}, and no data of one`);
    return new CommandError(
      error.state === 'active'
        ? `the data of ${slug} are in use by a Tenant. Delete that Tenant with deletionPolicy: Retain first`
        : `the data of ${slug} are being deleted and can no longer be adopted`,
    );
  }
  return error;
}
