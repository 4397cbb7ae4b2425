import { redisUser } from '../../../store/redis/acl.ts';
import type { StepResult } from '../../conditions/runner.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { secretNames } from '../../names.ts';
import type { Secrets } from '../../secrets.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { GeneratedPassword } from '../secrets/generated-password.ts';
import { secretOwner } from '../secrets/secret-owner.ts';
import type { TenantRedis } from './redis-users.ts';

export interface RedisAccess {
  /** Checksum of the Secret that pods read. */
  readonly checksum: string;
}

/** The step `RedisReady`: the tenant's Redis user and its Secret. No call when nothing changed. */
export class RedisStep {
  readonly #settings: OperatorSettings;
  readonly #secrets: Secrets;
  readonly #password: GeneratedPassword;
  readonly #redis: TenantRedis;

  constructor(deps: { settings: OperatorSettings; secrets: Secrets; password: GeneratedPassword; redis: TenantRedis }) {
    this.#settings = deps.settings;
    this.#secrets = deps.secrets;
    this.#password = deps.password;
    this.#redis = deps.redis;
  }

  async run(tenant: ObservedTenant, accepted: AcceptedTenant): Promise<StepResult<RedisAccess>> {
    const { slug } = accepted;
    const { password, former } = await this.#password.of(tenant, accepted);
    await this.#redis.ensure(slug, former === undefined ? [password] : [password, former]);
    const { redisAddress, redisTls } = this.#settings;
    const user = redisUser(slug);
    const url = `${redisTls ? 'rediss' : 'redis'}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${redisAddress}`;
    const checksum = await this.#secrets.write(secretOwner(tenant), secretNames(tenant).redis, { url });
    return { value: { checksum }, reason: 'RedisReady', message: `Redis user ${user}` };
  }
}
