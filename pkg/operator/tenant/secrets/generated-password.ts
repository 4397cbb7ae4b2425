import type { Random } from '../../../runtime/random.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { secretNames } from '../../names.ts';
import type { Secrets } from '../../secrets.ts';
import type { Shards } from '../../shards.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { secretOwner } from './secret-owner.ts';

const PASSWORD_BYTES = 24;

/** A password, and during a rotation (rotation/rotation-stages.ts) the next or the former one. */
export interface Passwords {
  readonly password: string;
  /** Replaces `password` once all pods know it. */
  readonly next?: string;
  /** Is valid until no pod uses it. */
  readonly former?: string;
}

/**
 * A password that the operator generates for a tenant at a store. Secret `<tenant>-<name>` holds it in an address, the registry
 * sealed, so that a Secret that was deleted or edited is restored.
 */
export class GeneratedPassword {
  readonly #name: 'database' | 'redis';
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #random: Random;

  constructor(deps: { name: 'database' | 'redis'; shards: Shards; secrets: Secrets; random: Random }) {
    this.#name = deps.name;
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#random = deps.random;
  }

  /**
   * Returns the passwords of the Secret, without a statement, if it was not edited and no rotation runs. Otherwise returns those
   * of the registry, which the first call generates.
   */
  async of(
    tenant: ObservedTenant,
    { tenantId, credentials }: Pick<AcceptedTenant, 'tenantId' | 'credentials'>,
  ): Promise<Passwords> {
    const data = this.#secrets.intact(secretOwner(tenant), secretNames(tenant)[this.#name]);
    const password = passwordIn(data?.['url']);
    const isSettled = !credentials[this.#name]?.step && data?.['nextPassword'] === undefined;
    return isSettled && password !== undefined ? { password } : this.#sealed(tenantId);
  }

  async #sealed(tenantId: string): Promise<Passwords> {
    const registry = await this.#shards.registry();
    const sealed = await registry.ensureSecret(tenantId, this.#name, () =>
      JSON.stringify({ password: newPassword(this.#random) }),
    );
    return JSON.parse(sealed) as Passwords;
  }
}

export const newPassword = (random: Random): string => random.base64url(PASSWORD_BYTES);

function passwordIn(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  return decodeURIComponent(new URL(url).password) || undefined;
}
