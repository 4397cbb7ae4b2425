import { TargetKeys } from '../../lti/links/target-keys.ts';
import { systemRandom } from '../../runtime/random.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { printRows } from '../rows.ts';
import { type TenantAccess, type TenantOptions, withTenant } from '../tenant-schema-access.ts';

interface Options extends TenantOptions {
  readonly json: boolean;
}

const keysOf = ({ tenantId, sealer }: TenantAccess): TargetKeys => new TargetKeys({ sealer, tenantId, random: systemRandom });

/**
 * Prints the keys of a tenant, the signing key first, with the number of opened links that each has signed. Throws CommandError.
 */
export async function listLinkKeys({ json, ...options }: Options): Promise<void> {
  const found = await withTenant(options, (access) => access.transaction((tx) => keysOf(access).list(tx)));
  const rows = found.map(({ createdAt, ...key }, at) => ({ ...key, created_at: createdAt.toISOString(), signs: at === 0 }));
  printRows(rows, ['id', 'created_at', 'signs', 'links'], json);
  if (!json && rows.length === 0) process.stdout.write(`${options.tenant} has no key yet: placing the first link creates it.\n`);
}

/** Creates a key that signs from now on. Throws CommandError. */
export async function rotateLinkKey({ json, ...options }: Options): Promise<void> {
  const { id } = await withTenant(options, (access) => access.transaction((tx) => keysOf(access).create(tx)));
  say(options, json, { id, state: 'signs' }, `key ${id} signs from now on. Existing links continue to work.`);
}

/** Deletes a former key, which ends every link that it signed. Throws CommandError. */
export async function withdrawLinkKey(id: string, { json, ...options }: Options): Promise<void> {
  const { tenant } = options;
  const outcome = await withTenant(options, (access) => access.transaction((tx) => keysOf(access).withdraw(tx, id)));
  if (outcome === 'unknown') throw new CommandError(`${tenant} has no key ${id} (carrel keys links list --tenant ${tenant})`);
  if (outcome === 'signs')
    throw new CommandError(`key ${id} is the signing key; rotate first: carrel keys links rotate --tenant ${tenant}`);
  const { links } = outcome;
  const opened = links === 1 ? '1 link that was opened has' : `${links} links that were opened have`;
  const text = `key ${id} is withdrawn. ${opened} to be placed again.`;
  say(options, json, { id, state: 'withdrawn', links }, text);
}

function say({ tenant }: TenantOptions, json: boolean, fields: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify({ tenant, ...fields })}\n` : `${tenant}: ${text}\n`);
}
