import { Redis } from 'ioredis';
import type { TestPlatform } from '../support/programs/worker-platform.ts';
import type { TestHelper } from '../support/fakes/helpers/helper.ts';
import type { Receiver } from '../support/fakes/receiver.ts';
import { range, waitFor } from '../support/wait.ts';
import type { Kept } from './kept.ts';
import type { Seeded } from './seeded.ts';

/** A store that was killed is up again within this. */
const BACK_MS = 60_000;

/** Faults of a helper that the next attempt does not meet. */
const FAULTS_THAT_PASS = ['drops the connection', 'answers 500', 'answers 503 with Retry-After'] as const;

type Target =
  | 'receiver'
  | 'worker'
  | 'server'
  | 'valkey'
  | 'valkey-queue'
  | 'postgres'
  | 'versitygw'
  | 'helpers'
  | 'helper of its own';

interface Fault {
  readonly name: string;
  /** A target has one fault at a time. Faults of different targets overlap. */
  readonly target: Target;
  /** From its begin to its end. */
  happen(): Promise<void>;
}

interface Victims {
  readonly platform: TestPlatform;
  readonly receiver: Receiver;
  readonly worker: Pick<Kept, 'kill'>;
  readonly server: Pick<Kept, 'kill'>;
  /** True: the object store breaks too. */
  readonly withObjects?: boolean;
  readonly helpers?: {
    /** The product's. */
    readonly ours: Pick<Kept, 'kill'> & { signal(signal: 'SIGSTOP' | 'SIGCONT'): void };
    /** The helper of a tenant. */
    readonly own: TestHelper;
  };
}

/** Breaks things at moments that `random` names; each kind once before any comes again. */
export class Injector {
  /** The number of times each fault has happened, by name. */
  readonly happened = new Map<string, number>();
  readonly #kinds: readonly Fault[];
  readonly #random: Seeded;
  readonly #say: (name: string) => void;
  readonly #underWay = new Map<Target, Promise<void>>();
  #bag: Fault[] = [];
  #failure: unknown;

  constructor(victims: Victims, random: Seeded, say: (name: string) => void) {
    this.#say = say;
    this.#random = random;
    this.#kinds = faultsOf(victims, random);
  }

  /** `count` moments of a work of `total` changes, in their order. */
  moments(count: number, total: number): number[] {
    return range(count)
      .map(() => this.#random.between(1, total - 1))
      .toSorted((one, other) => one - other);
  }

  get kinds(): number {
    return this.#kinds.length;
  }

  /** The targets that are broken now, as text. */
  get now(): string {
    return [...this.#underWay.keys()].join(', ') || 'nothing';
  }

  /** The number of targets that are broken now. */
  get broken(): number {
    return this.#underWay.size;
  }

  /** Begins the next fault, after the one that its target still suffers. */
  next(): void {
    if (this.#bag.length === 0) this.#bag = this.#random.shuffled(this.#kinds);
    const fault = this.#bag.pop();
    if (!fault) return;
    this.#say(fault.name);
    this.happened.set(fault.name, (this.happened.get(fault.name) ?? 0) + 1);
    const before = this.#underWay.get(fault.target) ?? Promise.resolve();
    const ended = before
      .then(() => fault.happen())
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => {
        if (this.#underWay.get(fault.target) === ended) this.#underWay.delete(fault.target);
      });
    this.#underWay.set(fault.target, ended);
  }

  /** Resolves when nothing is broken any more. Throws what kept a fault from happening or from ending. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function faultsOf({ platform, receiver, worker, server, withObjects = false, helpers }: Victims, random: Seeded): Fault[] {
  const { stores } = platform;
  const lasting = (fromMs: number, toMs: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, random.between(fromMs, toMs)));
  /** Returns the faults of the tenants' Redis or of the queues' Redis. */
  const faultsOfRedis = (target: 'valkey' | 'valkey-queue'): Fault[] => {
    const url = target === 'valkey' ? stores.redis.adminUrl : stores.redis.queueUrl;
    const redis = async (ask: (client: Redis) => Promise<unknown>): Promise<void> => {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: null, commandTimeout: 5_000 });
      client.on('error', () => undefined); // the command reports it
      try {
        await client.connect();
        await ask(client);
      } finally {
        client.disconnect();
      }
    };
    const isBack = (): Promise<boolean> => waitFor(target, () => redis((client) => client.ping()).then(() => true), BACK_MS);
    return [
      { name: `${target} is flushed`, target, happen: () => redis((client) => client.flushall()) },
      {
        name: `${target} is frozen`,
        target,
        happen: async () => {
          stores.signal(target, 'SIGSTOP');
          await lasting(1_000, 7_000);
          stores.signal(target, 'SIGCONT');
          await isBack();
        },
      },
      {
        name: `${target} is killed`,
        target,
        happen: async () => {
          await stores.kill(target);
          await isBack();
        },
      },
    ];
  };
  const faultsOfObjects = (): Fault[] => {
    const answers = (): Promise<boolean> =>
      waitFor(
        'the object store',
        () => fetch(stores.s3.endpoint, { signal: AbortSignal.timeout(1_000) }).then(() => true),
        BACK_MS,
      );
    return [
      {
        name: 'the object store is frozen',
        target: 'versitygw',
        happen: async () => {
          stores.signal('versitygw', 'SIGSTOP');
          await lasting(1_000, 7_000);
          stores.signal('versitygw', 'SIGCONT');
          await answers();
        },
      },
      {
        name: 'the object store is killed',
        target: 'versitygw',
        happen: async () => {
          await stores.kill('versitygw');
          await answers();
        },
      },
    ];
  };
  const faultsOfHelpers = ({ ours, own }: NonNullable<Victims['helpers']>): Fault[] => [
    { name: 'the helpers are killed', target: 'helpers', happen: () => ours.kill() },
    {
      name: 'the helpers are frozen',
      target: 'helpers',
      happen: async () => {
        ours.signal('SIGSTOP');
        await lasting(1_000, 7_000);
        ours.signal('SIGCONT');
      },
    },
    {
      name: 'the helper of a tenant is down',
      target: 'helper of its own',
      happen: async () => {
        await own.fail('refuses');
        await lasting(1_000, 4_000);
        await own.fail(undefined);
      },
    },
    {
      name: 'the helper of a tenant breaks',
      target: 'helper of its own',
      happen: () => own.fail(random.shuffled(FAULTS_THAT_PASS)[0], random.between(1, 2)),
    },
  ];
  return [
    ...(withObjects ? faultsOfObjects() : []),
    ...(helpers ? faultsOfHelpers(helpers) : []),
    {
      name: 'the receiver is down',
      target: 'receiver',
      happen: async () => {
        await receiver.down();
        await lasting(1_000, 4_000);
        await receiver.up();
      },
    },
    {
      name: 'the receiver answers 500',
      target: 'receiver',
      happen: async () => receiver.answer({ status: 500 }, random.between(20, 80)),
    },
    {
      name: 'the receiver asks to wait',
      target: 'receiver',
      happen: async () => receiver.answer({ status: 503, headers: { 'retry-after': '1' } }, random.between(5, 30)),
    },
    { name: 'the receiver stalls', target: 'receiver', happen: async () => receiver.answer('stall', random.between(2, 6)) },
    { name: 'the worker is killed', target: 'worker', happen: () => worker.kill() },
    { name: 'the server is killed', target: 'server', happen: () => server.kill() },
    ...faultsOfRedis('valkey'),
    ...faultsOfRedis('valkey-queue'),
    {
      name: 'Postgres is killed',
      target: 'postgres',
      happen: async () => {
        await stores.kill('postgres');
        await waitFor('Postgres', () => platform.pool.ping().then(() => true), BACK_MS);
      },
    },
  ];
}
