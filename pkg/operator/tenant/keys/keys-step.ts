import type { JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import { tenantDataKey, type SealingKey } from '../../../runtime/sealing.ts';
import type { CredentialState } from '../../../store/postgres/registry.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { secretNames } from '../../names.ts';
import type { Secrets } from '../../secrets.ts';
import type { Shards } from '../../shards.ts';
import type { StepResult } from '../../conditions/runner.ts';
import type { Administrators } from './administrator.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { DatabaseAccess } from '../database/database-step.ts';
import { secretOwner } from '../secrets/secret-owner.ts';
import type { SpecifiedRows } from '../specified/specified-rows.ts';

export interface KeysAccess {
  readonly checksum: string;
}

/**
 * The step `KeysReady`: the keys that sign and seal for the tenant, its first administrator, and the rows that its spec sets:
 * schedules, which act as the administrator, and the policy of share links. No statement when nothing changed.
 */
export class KeysStep {
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #administrators: Administrators;
  readonly #rows: SpecifiedRows;
  readonly #platformKeys: readonly SealingKey[];

  constructor(deps: {
    shards: Shards;
    secrets: Secrets;
    administrators: Administrators;
    rows: SpecifiedRows;
    platformKeys: readonly SealingKey[];
  }) {
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#administrators = deps.administrators;
    this.#rows = deps.rows;
    this.#platformKeys = deps.platformKeys;
  }

  async run(tenant: ObservedTenant, accepted: AcceptedTenant, database: DatabaseAccess): Promise<StepResult<KeysAccess>> {
    const name = secretNames(tenant).keys;
    const present = this.#secrets.intact(secretOwner(tenant), name)?.['signing.json'];
    const isSettled = !accepted.credentials.signing?.step && present !== undefined && keysIn(present).length === 1;
    const signing = isSettled ? present : await this.#sealedKeys(accepted.tenantId);
    const data = { 'signing.json': signing, 'data.json': dataKeys(this.#platformKeys, accepted) };
    const checksum = await this.#secrets.write(secretOwner(tenant), name, data);
    const { email, message } = await this.#administrators.ensure(tenant, accepted, database);
    await this.#rows.sync(tenant, accepted, database, email);
    return { value: { checksum }, reason: 'KeysReady', message };
  }

  async #sealedKeys(tenantId: string): Promise<string> {
    const registry = await this.#shards.registry();
    return registry.ensureSecret(tenantId, 'keys', async () => JSON.stringify({ keys: [await newSigningKey()] }));
  }
}

/** Returns the private JWKs: the first signs, all verify. */
export const keysIn = (signing: string): JWK[] => (JSON.parse(signing) as { keys: JWK[] }).keys;

/** Returns a private JWK for ES256; its kid is the RFC 7638 thumbprint. */
export async function newSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' };
}

/** Returns the tenant's data keys as its server reads them: one per platform key and generation. The first seals. */
export const dataKeys = (
  platformKeys: readonly SealingKey[],
  { tenantId, credentials }: Pick<AcceptedTenant, 'tenantId' | 'credentials'>,
): string =>
  JSON.stringify({
    keys: generationsOf(credentials.data).flatMap((generation) =>
      platformKeys.map((platform) => {
        const { id, key } = tenantDataKey(platform, tenantId, generation);
        return { id, key: key.toString('base64') };
      }),
    ),
  });

/**
 * Returns the generations of data keys that a server needs at this step of their rotation (rotation/rotation-stages.ts). The
 * first seals.
 */
function generationsOf(data: CredentialState | undefined): number[] {
  const { step, generation } = data ?? { step: null, generation: 0 };
  if (step === 'published') return [generation, generation + 1];
  return step === 'seals' ? [generation, generation - 1] : [generation];
}
