import { createHmac } from 'node:crypto';
import { EmailTakenError, ensureAdministrator } from '../../../accounts/administrator.ts';
import { Passwords } from '../../../accounts/passwords.ts';
import { NewPassword } from '../../../accounts/passwords.schema.ts';
import { wholeBytes } from '../../../kube/quantity.ts';
import type { Random } from '../../../runtime/random.ts';
import { tenantDataKey, type SealingKey } from '../../../runtime/sealing.ts';
import { TENANT, type ObservedTenant } from '../../kinds.ts';
import { ADMINISTRATOR_ANNOTATION, secretNames } from '../../names.ts';
import { valuesOf, type Secrets } from '../../secrets.ts';
import { ConditionError } from '../../conditions/runner.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { DatabaseAccess } from '../database/database-step.ts';
import { secretOwner } from '../secrets/secret-owner.ts';

const PASSWORD_BYTES = 18;
const MAX_EMAIL = 255;
/** Addresses are released through the API, which the operator does not watch. */
const EMAIL_TAKEN_RETRY_MS = 30_000;

interface FirstAdministrator {
  readonly email: string;
  /** Names the Secret that holds the password. */
  readonly message: string;
}

/**
 * The first administrator of a tenant and the Secret that holds its password.
 *
 * Invariants:
 * - The password is written to the database only when it or the e-mail changed: setting it ends that person's sessions.
 * - Deleting Secret `<tenant>-admin` sets a new password, editing it sets that one. It is the one generated Secret that has no
 *   sealed copy.
 * - An account that the operator did not make does not become administrator by its address: that is `EmailTaken`.
 * - It is set in the database first, then written to the Secret: what the Secret holds signs in.
 */
export class Administrators {
  readonly #secrets: Secrets;
  readonly #passwords = new Passwords();
  readonly #platformKeys: readonly SealingKey[];
  readonly #random: Random;

  constructor(deps: { secrets: Secrets; platformKeys: readonly SealingKey[]; random: Random }) {
    this.#secrets = deps.secrets;
    this.#platformKeys = deps.platformKeys;
    this.#random = deps.random;
  }

  async ensure(tenant: ObservedTenant, accepted: AcceptedTenant, database: DatabaseAccess): Promise<FirstAdministrator> {
    const reference = tenant.spec.admin?.passwordSecretRef;
    if (reference) return this.#fromNamedSecret(tenant, accepted, database, reference);
    const name = secretNames(tenant).admin;
    const live = this.#secrets.find(secretOwner(tenant), name);
    const known = live && valuesOf(live);
    const email = tenant.spec.admin?.email ?? known?.['email'] ?? defaultEmail(accepted);
    const password = known?.['password'] || this.#random.base64url(PASSWORD_BYTES);
    const { mark, isSet } = this.#mark(accepted, email, password, live?.metadata.annotations);
    await this.#dropNamedMark(tenant);
    if (!isSet) await this.#set(tenant, accepted, database, { email, password });
    await this.#secrets.write(secretOwner(tenant), name, { email, password }, { [ADMINISTRATOR_ANNOTATION]: mark });
    return { email, message: `the administrator's password is in Secret ${name}` };
  }

  /** The Secret of the keys records the values that were set last: the operator must not write to the named Secret. */
  async #fromNamedSecret(
    tenant: ObservedTenant,
    accepted: AcceptedTenant,
    database: DatabaseAccess,
    reference: { name: string; key: string },
  ): Promise<FirstAdministrator> {
    const { namespace } = tenant.metadata;
    const field = 'spec.admin.passwordSecretRef';
    const named = await this.#secrets.named({ by: tenant, kind: TENANT, field, name: reference.name }, [reference.key]);
    const email = tenant.spec.admin?.email ?? defaultEmail(accepted);
    const password = named[reference.key] ?? '';
    const keys = this.#secrets.find(secretOwner(tenant), secretNames(tenant).keys);
    const { mark, isSet } = this.#mark(accepted, email, password, keys?.metadata.annotations);
    if (!isSet) await this.#set(tenant, accepted, database, { email, password });
    if (keys?.metadata.annotations?.[ADMINISTRATOR_ANNOTATION] !== mark)
      await this.#secrets.annotate({ namespace, name: secretNames(tenant).keys }, { [ADMINISTRATOR_ANNOTATION]: mark });
    return { email, message: `the administrator's password is in Secret ${reference.name}` };
  }

  /** Removes the record, so that a Secret that is named again later is applied again: another password was valid in between. */
  async #dropNamedMark(tenant: ObservedTenant): Promise<void> {
    const name = secretNames(tenant).keys;
    const keys = this.#secrets.find(secretOwner(tenant), name);
    if (keys?.metadata.annotations?.[ADMINISTRATOR_ANNOTATION] === undefined) return;
    await this.#secrets.annotate({ namespace: tenant.metadata.namespace, name }, { [ADMINISTRATOR_ANNOTATION]: null });
  }

  async #set(
    { spec }: ObservedTenant,
    { slug }: AcceptedTenant,
    { shard }: DatabaseAccess,
    { email, password }: { email: string; password: string },
  ): Promise<void> {
    if (email.length > MAX_EMAIL || !/^[^@\s]+@[^@\s]+$/.test(email)) {
      throw new ConditionError('EmailInvalid', `the administrator's e-mail is not an address: ${email.slice(0, 80)}`, {
        isTerminal: true,
      });
    }
    if (!NewPassword.safeParse(password).success) {
      throw new ConditionError('PasswordInvalid', "the administrator's password must have 8 to 256 characters", {
        isTerminal: true,
      });
    }
    if (await this.#passwords.isCommon(password)) {
      const message = "the administrator's password must not be one of the 10,000 most common passwords";
      throw new ConditionError('PasswordInvalid', message, { isTerminal: true });
    }
    const passwordHash = await this.#passwords.hash(password);
    const storageQuota = wholeBytes(spec.storage.defaultUserQuota);
    try {
      await ensureAdministrator(shard, slug, { email, passwordHash, storageQuota });
    } catch (error) {
      if (!(error instanceof EmailTakenError)) throw error;
      const message =
        `the address ${email.slice(0, 80)} belongs to an account that the operator did not make: give ` +
        'that account another address, or set another spec.admin.email';
      throw new ConditionError('EmailTaken', message, { isTerminal: true, retryAfterMs: EMAIL_TAKEN_RETRY_MS, cause: error });
    }
  }

  /**
   * Keyed, so that a weak password cannot be guessed from it. One made under an older platform key counts too; `mark` is that of
   * the first key, so that the password is not set again once the older key is gone.
   */
  #mark(
    { tenantId }: AcceptedTenant,
    email: string,
    password: string,
    annotations: Record<string, string> | undefined,
  ): { mark: string; isSet: boolean } {
    const present = annotations?.[ADMINISTRATOR_ANNOTATION];
    const marks = this.#platformKeys.map((platformKey) =>
      createHmac('sha256', tenantDataKey(platformKey, tenantId).key)
        .update(JSON.stringify(['administrator', email, password]))
        .digest('hex'),
    );
    return { mark: marks[0] ?? '', isSet: present !== undefined && marks.includes(present) };
  }
}

const defaultEmail = ({ hosts }: AcceptedTenant): string => `admin@${hosts.app}`;
