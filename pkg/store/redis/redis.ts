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
/** The queue to wake. A wake-up without due work delays the queue's next wake-up (pkg/jobs/dispatcher.ts). */
export type Wake = 'deliveries' | 'jobs';

export type Reply = string | number | null | readonly Reply[];

/** A command and its reply; commands that are sent together share the round trip. */
export interface RoundTrip {
  readonly command: string;
  readonly ms: number;
}

/**
 * Redis, restricted to the operations that we need. Everything throws StoreUnavailableError: at once while disconnected,
 * otherwise within the command time-out.
 */
export interface Redis {
  /** True if connected and answering, as far as is known. */
  readonly isReady: boolean;
  /** Results are in the order of the keys, of which there is at least one. */
  mget(keys: readonly string[]): Promise<(string | null)[]>;
  set(key: string, value: string, options: { ttlSeconds: number }): Promise<void>;
  /**
   * A function argument is called once, when the command leaves with its batch or fails before that. Until then, the call can
   * collect its contents.
   */
  call(call: FunctionCall | (() => FunctionCall)): Promise<Reply>;
  /** Channels have no prefix. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Uses a connection of its own, and subscribes again whenever that was lost. Resolves when subscribed; call the result to
   * unsubscribe.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisOptions {
  /** redis://user:password@host:port */
  readonly url: string;
  /** The prefix of every key, `t:<slug>:`; empty for the worker and the operator. */
  readonly prefix: string;
  /**
   * The code of the functions, which only an administrator may pass. It is loaded at each connection to a Redis without a library
   * of that name, such as one that was killed. A library that the operator has loaded stays unchanged.
   */
  readonly library?: string;
  readonly log: Logger;
  readonly observe?: (trip: RoundTrip) => void;
  readonly random?: Random;
  readonly commandTimeoutMs?: number;
}

const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT = { baseMs: 50, maxMs: 2_000, jitter: 0.5 };

/**
 * Connects in the background, and reconnects forever. Commands before the first connection wait for it, for at most one time-out.
 */
export const connectRedis = (options: RedisOptions): Redis => new IoRedis(options);

class IoRedis implements Redis {
  readonly #client: Client;
  readonly #options: RedisOptions;
  /** Resolves after the first attempt to connect, even a failed one. */
  readonly #tried: Promise<unknown>;
  /** Collects commands until it is sent. */
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
    // The client's own way to subscribe again ends the program when Redis does not answer, and does not try once more.
    client.on('ready', () => void client.subscribe(channel).catch(() => client.disconnect(true)));
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

  /** The time-out is that of the batch's first command, and starts before the batch may be sent. */
  async #exchange(commands: readonly Sendable[], beforeLast: Promise<unknown>): Promise<Exchanged[]> {
    const late = Promise.withResolvers<Error>();
    const cancel = afterAwake(this.#timeoutMs, () => late.resolve(LATE));
    const isLate = await Promise.race([beforeLast.then(turnEnded, turnEnded), late.promise]);
    this.#batch = undefined;
    const words = commands.map(toWords);
    const answers = isLate ?? (await Promise.race([this.#exec(words), late.promise]));
    cancel();
    // A connection with an overdue answer is closed, so that later commands fail at once instead of also waiting.
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

  /** Connecting and signing in have the time-out of a command. */
  #closeSilentOnes(): void {
    const client = this.#client;
    let cancel = (): void => {};
    client.on('connecting', () => {
      cancel = afterAwake(this.#timeoutMs, () => client.stream.destroy(LATE));
    });
    for (const event of ['ready', 'close', 'end']) client.on(event, () => cancel());
  }

  /**
   * The client's own time-out also counts the time in which this process stood still, so it is used only where a lost reply costs
   * nothing.
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
      autoResubscribe: false,
      // A tenant's user has no INFO; a server that is still loading its data reports that to each command.
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

/** A function creates its call when the batch leaves. */
type Sendable = Words | FunctionCall | (() => FunctionCall);
type Answer = Reply | Error;
type Words = readonly (string | number)[];
interface Exchanged {
  readonly words: Words;
  readonly answer: Answer;
}

/**
 * The commands of all requests that arrived while two batches were in flight, or otherwise in one turn of the event loop: one
 * write and one read, for this process and for Redis. Redis works on one of two batches while this process works on the replies
 * of the other. A command waits at most one round trip longer: Redis answers a connection in order anyway.
 */
interface Batch {
  readonly commands: Sendable[];
  readonly exchanged: Promise<Exchanged[]>;
}

/** One error for all: the caller's error is created from it. */
const LATE = new Error('Redis did not answer in time');

const turnEnded = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function toWords(command: Sendable): Words {
  if (typeof command === 'function') return toWords(command());
  if (!('fn' in command)) return command;
  return ['fcall', command.fn, command.keys.length, ...command.keys, ...command.args];
}

/** Returns an error reply of Redis (a wrong type, a command that is not allowed) unchanged. */
const translateError = (error: Error): Error => (isRedisUnavailable(error) ? new StoreUnavailableError('redis', error) : error);
