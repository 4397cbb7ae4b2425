import { LAUNCH_SECONDS, SHARE_DOWNLOAD_SECONDS } from '../../../api/lifetimes.ts';
import type { Random } from '../../../runtime/random.ts';
import type { CredentialName } from '../../../store/postgres/registry.ts';
import { newStorageKey } from '../storage/storage-step.ts';
import { newPassword, type Passwords } from '../secrets/generated-password.ts';
import { keysIn, newSigningKey } from '../keys/keys-step.ts';
import type { BucketKeys } from '../storage/storage-step.ts';
import { MINUTE_MS } from '../../../runtime/time.ts';

/** A step of a rotation. It is taken once all pods have the value of the step before, and no older pod is left. */
interface Transition {
  /** Null: no rotation runs. */
  readonly from: string | null;
  readonly to: string | null;
  /** This step creates the newest value, or takes it into use. */
  readonly isNew: boolean;
  /** The least time since the step before, in ms: not only pods use the former value. */
  readonly afterMs: number;
  /**
   * Returns the sealed value of this step from that of the step before. Absent if the registry has no value of the credential.
   */
  readonly change?: (value: string, random: Random) => string | Promise<string>;
}

interface RotationRules {
  /** The name of the sealed value in the registry. */
  readonly secret?: string;
  readonly transitions: readonly [Transition, ...Transition[]];
}

/**
 * Longer than a worker uses a tenant's key before it reads it again (pkg/store/tenant-resources.ts), and than most of its jobs
 * last.
 */
const WORKERS_KEEP_MS = 15 * MINUTE_MS;
/** The longest lifetime of a value that a key has signed, and a minute for clocks that differ. */
const SIGNED_MS = (LAUNCH_SECONDS + 60) * 1_000;

/**
 * The longest lifetime of a value that a data key has sealed (the proof that a download of a share was counted), except in rows,
 * and a minute for clocks that differ.
 */
const SEALED_MS = (SHARE_DOWNLOAD_SECONDS + 60) * 1_000;

const step = <T>(
  from: string | null,
  to: string | null,
  change: (value: T, random: Random) => T | Promise<T>,
  more: { isNew?: boolean; afterMs?: number } = {},
): Transition => ({
  from,
  to,
  isNew: more.isNew ?? false,
  afterMs: more.afterMs ?? 0,
  change: async (value, random) => JSON.stringify(await change(JSON.parse(value) as T, random)),
});

interface SigningKeys {
  readonly keys: ReturnType<typeof keysIn>;
}

/**
 * The rules by which each credential is replaced, so that no request fails.
 *
 * - A role of Postgres has one password: all pods know the next one before it becomes the password, and log in with whichever is
 *   right.
 * - A Redis user has both passwords, and a bucket two keys, until no pod uses the former.
 * - A signing key is published before it signs, and stays published until nothing that it signed is valid.
 * - A data key is known to all pods before it seals. The former one opens until its lasting values are resealed
 *   (rotation-step.ts) and its other values have expired. It derives from the platform key, so the registry has its generation
 *   alone.
 */
export const ROTATIONS: Readonly<Record<CredentialName, RotationRules>> = {
  database: {
    secret: 'database',
    transitions: [
      step<Passwords>(null, 'announced', ({ password }, random) => ({ password, next: newPassword(random) })),
      step<Passwords>('announced', null, ({ password, next }) => ({ password: next ?? password }), { isNew: true }),
    ],
  },
  redis: {
    secret: 'redis',
    transitions: [
      step<Passwords>(null, 'both', ({ password }, random) => ({ password: newPassword(random), former: password }), {
        isNew: true,
      }),
      step<Passwords>('both', null, ({ password }) => ({ password })),
    ],
  },
  storage: {
    secret: 'bucket',
    transitions: [
      step<BucketKeys>(
        null,
        'both',
        ({ accessKeyId }, random) => ({ ...newStorageKey(accessKeyId, random), former: accessKeyId }),
        {
          isNew: true,
        },
      ),
      step<BucketKeys>('both', null, ({ former: _former, ...key }) => key, { afterMs: WORKERS_KEEP_MS }),
    ],
  },
  signing: {
    secret: 'keys',
    transitions: [
      step<SigningKeys>(null, 'published', async ({ keys: [signs] }) => ({
        keys: [...(signs ? [signs] : []), await newSigningKey()],
      })),
      step<SigningKeys>('published', 'signs', ({ keys }) => ({ keys: keys.toReversed() }), { isNew: true }),
      step<SigningKeys>('signs', null, ({ keys }) => ({ keys: keys.slice(0, 1) }), { afterMs: SIGNED_MS }),
    ],
  },
  data: {
    transitions: [
      { from: null, to: 'published', isNew: false, afterMs: 0 },
      { from: 'published', to: 'seals', isNew: true, afterMs: 0 },
      { from: 'seals', to: null, isNew: false, afterMs: SEALED_MS },
    ],
  },
};

/** Returns the step that follows `from`. Returns undefined if another release, which knows it, began the rotation. */
export const transitionFrom = (name: CredentialName, from: string | null): Transition | undefined =>
  ROTATIONS[name].transitions.find((transition) => transition.from === from);
