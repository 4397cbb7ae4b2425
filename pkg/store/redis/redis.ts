import { once } from 'node:events';
import { Redis as Client } from 'ioredis';
import { afterAwake } from '../../runtime/awake.ts';
import { backOffMs } from '../../runtime/backoff.ts';
import type { Logger } from '../../runtime/log.ts';
import { type Random, systemRandom } from '../../runtime/random.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { isRedisUnavailable } from './unavailable.ts';
import type { FunctionCall } from './functions.ts';

/** Wakes the worker: something is due in Postgres. The message is a Wake; any other wakes all queues. */
export const WAKE_CHANNEL = 'carrel:wake';
/** Whom to wake. What wakes a queue for nothing lets its next wake-up wait (pkg/jobs/dispatcher.ts). */
export type Wake = 'deliveries' | 'jobs';

export type Reply = string | number | null | readonly Reply[];

/** A command and its reply; commands that are sent together share the way. */
export interface RoundTrip {
  readonly command: string;
  readonly ms: number;
}

/**
 * Redis, as narrow as we need it. Everything throws StoreUnavailableError: at once while disconnected, else within the command
 * time-out.
 */
export interface Redis {
  /** Connected and answering, as far as is known. */
  readonly isReady: boolean;
  /** In the order of the keys, of which there is at least one. */
  mget(keys: readonly string[]): Promise<(string | null)[]>;
  set(key: string, value: string, options: { ttlSeconds: number }): Promise<void>;
  /**
   * A function is called once, when the command leaves with its batch or fails before: until then the call can gather what it is
   * for.
   */
  call(call: FunctionCall | (() => FunctionCall)): Promise<Reply>;
  /** Channels have no prefix. */
  publish(channel: string, message: string): Promise<void>;
  /** Over a connection of its own, subscribed again whenever that was lost. Resolves when subscribed; the result ends it. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisOptions {
  /** redis://user:password@host:port */
  readonly url: string;
  /** In front of every key, `t:<slug>:`; empty for the worker and the operator. */
  readonly prefix: string;
  /**
   * The code of functions, which only an administrator may give: loaded at each connection to a Redis that has no library of that
   * name, as one that was killed. What the operator has loaded is left as it is.
   */
  readonly library?: string;
  readonly log: Logger;
  readonly observe?: (trip: RoundTrip) => void;
  readonly random?: Random;
  readonly commandTimeoutMs?: number;
}

const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT = { baseMs: 50, maxMs: 2_000, jitter: 0.5 };

/** Connects in the background, and again for ever; commands before the first connection wait for it, for one time-out at most. */
export const connectRedis = (options: RedisOptions): Redis => new IoRedis(options);

class IoRedis implements Redis {
  readonly #client: Client;
  readonly #options: RedisOptions;
  /** Resolves after the first attempt to connect, also if it failed. */
  readonly #tried: Promise<unknown>;
  /** Gathers commands until it is sent. */
  #batch: Batch | undefined;
  /** Resolve when the batch before the last one, and the last one, are answered. */
  #answered: readonly [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()];

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#client = this.#open(options.prefix);
    this.#closeSilentOnes();
    this.#tried = Promise.race([once(this.#client, 'ready'), once(this.#client, 'close')]).catch(() => {});
  }

  get isReady(): boolean {
    return this.#client.status === 'ready';
  }

  async mget(keys: readonly string[]): Promise<(string | null)[]> {
    return (await this.#send(['mget', ...keys])) as (string | null)[];
  }

  async set(key: string, value: string, { ttlSeconds }: { ttlSeconds: number }): Promise<void> {
    await this.#send(['set', key, value, 'EX', ttlSeconds]);
  }

  async call(call: FunctionCall | (() => FunctionCall)): Promise<Reply> {
    return this.#send(call);
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#send(['publish', channel, message]);
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>> {
    const client = this.#open('', this.#timeoutMs);
    client.on('message', (from: string, message: string) => {
      if (from === channel) onMessage(message);
    });
    try {
      if (client.status !== 'ready') await once(client, 'ready');
      await client.subscribe(channel);
    } catch (error) {
      client.disconnect();
      throw translateError(error as Error);
    }
    return async () => {
      client.disconnect();
      await Promise.resolve();
    };
  }

  async ping(): Promise<void> {
    await this.#send(['ping']);
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await Promise.resolve();
  }

  async #send(command: Sendable): Promise<Reply> {
    await this.#tried;
    const started = performance.now();
    const batch = (this.#batch ??= this.#newBatch());
    const position = batch.commands.push(command) - 1;
    const { words, answer } = (await batch.exchanged)[position] as Exchanged;
    this.#options.observe?.({ command: String(words[0]), ms: performance.now() - started });
    if (answer instanceof Error) throw translateError(answer);
    return answer;
  }

  #newBatch(): Batch {
    const commands: Sendable[] = [];
    const [beforeLast, last] = this.#answered;
    const exchanged = this.#exchange(commands, beforeLast);
    this.#answered = [last, exchanged];
    return { commands, exchanged };
  }

  /** The time-out is that of the batch's first command, and begins before the batch may be sent. */
  async #exchange(commands: readonly Sendable[], beforeLast: Promise<unknown>): Promise<Exchanged[]> {
    const late = Promise.withResolvers<Error>();
    const cancel = afterAwake(this.#timeoutMs, () => late.resolve(LATE));
    const isLate = await Promise.race([beforeLast.then(turnEnded, turnEnded), late.promise]);
    this.#batch = undefined;
    const words = commands.map(toWords);
    const answers = isLate ?? (await Promise.race([this.#exec(words), late.promise]));
    cancel();
    // A connection on which an answer is overdue is closed, so that later commands fail at once instead of waiting too.
    if (answers === LATE) this.#client.stream.destroy(LATE);
    return words.map((sent, index) => ({ words: sent, answer: answers instanceof Error ? answers : (answers[index] as Answer) }));
  }

  async #exec(words: readonly Words[]): Promise<Answer[]> {
    try {
      const answers = await this.#client.pipeline(words.map((command) => [...command])).exec();
      return (answers ?? []).map(([error, reply]) => error ?? (reply as Reply));
    } catch (error) {
      return words.map(() => error as Error);
    }
  }

  get #timeoutMs(): number {
    return this.#options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  }

  /** Connecting and signing in has the time-out of a command. */
  #closeSilentOnes(): void {
    const client = this.#client;
    let cancel = (): void => {};
    client.on('connecting', () => {
      cancel = afterAwake(this.#timeoutMs, () => client.stream.destroy(LATE));
    });
    for (const event of ['ready', 'close', 'end']) client.on(event, () => cancel());
  }

  /**
   * A time-out of the client's own also counts the time in which this process stood still: only where a lost reply costs nothing.
   */
  #open(keyPrefix: string, timeoutMs?: number): Client {
    const { url, library, log, random = systemRandom } = this.#options;
    const client = new Client(url, {
      keyPrefix,
      ...(timeoutMs === undefined
        ? { connectTimeout: 0 }
        : { connectTimeout: timeoutMs, commandTimeout: timeoutMs, socketTimeout: timeoutMs }),
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // A tenant's user has no INFO; a server that still loads its data says so to each command.
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: (attempt) => backOffMs(RECONNECT, attempt, random),
    });
    client.on('error', (error: Error) => log.debug({ err: error }, 'the connection to Redis failed'));
    if (library !== undefined) client.on('ready', () => void loadMissing(client, library, log));
    return client;
  }
}

async function loadMissing(client: Client, library: string, log: Logger): Promise<void> {
  try {
    await client.call('FUNCTION', ['LOAD', library]);
  } catch (error) {
    if (!/already exists/.test((error as Error).message)) log.warn({ err: error }, 'could not load the functions into Redis');
  }
}

/** A function makes its call when the batch leaves. */
type Sendable = Words | FunctionCall | (() => FunctionCall);
type Answer = Reply | Error;
type Words = readonly (string | number)[];
interface Exchanged {
  readonly words: Words;
  readonly answer: Answer;
}

/**
 * The commands of all requests that came while two batches were on their way, or else in one turn of the event loop: one write
 * and one read, here and in Redis. Of two batches Redis works on one while this process works on the replies of the other. A
 * command waits one round trip longer at most: Redis answers a connection in order anyway.
 */
interface Batch {
  readonly commands: Sendable[];
  readonly exchanged: Promise<Exchanged[]>;
}

/** One for all: an error is made for the caller from it. */
const LATE = new Error('Redis did not answer in time');

const turnEnded = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function toWords(command: Sendable): Words {
  if (typeof command === 'function') return toWords(command());
  if (!('fn' in command)) return command;
  return ['fcall', command.fn, command.keys.length, ...command.keys, ...command.args];
}

/** An error reply of Redis (a wrong type, a command that is not allowed) is returned unchanged. */
const translateError = (error: Error): Error => (isRedisUnavailable(error) ? new StoreUnavailableError('redis', error) : error);
