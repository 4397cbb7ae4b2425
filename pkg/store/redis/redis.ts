import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Redis as Client } from 'ioredis';
import { backOffMs } from '../../runtime/backoff.ts';
import type { Logger } from '../../runtime/log.ts';
import { type Random, systemRandom } from '../../runtime/random.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import type { CommandName } from './commands.ts';

/** Wakes the worker: something is due in Postgres. The message is the tenant's role, or empty. */
export const WAKE_CHANNEL = 'carrel:wake';

export type Reply = string | number | null | readonly Reply[];
export type Command = readonly [name: CommandName, ...args: (string | number)[]] | ScriptCall;

/** A Lua script, known to Redis by its hash. It must name every key in KEYS: keys get the tenant's prefix there, and only there. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
  call(keys: readonly string[], args?: readonly (string | number)[]): ScriptCall;
}
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export function defineScript(lua: string): Script {
  const script: Script = {
    lua,
    sha: createHash('sha1').update(lua).digest('hex'),
    call: (keys, args = []) => ({ script, keys, args }),
  };
  SCRIPTS.set(script.sha, lua);
  return script;
}

/** All that were defined, by hash. */
const SCRIPTS = new Map<string, string>();

const joins = new Map<string, Script>();

/** Two calls as one: one command in place of two, for here and in Redis alike. Its reply is the list of both replies; an error of either is the error of both, and what the first has done stays. */
export function joinCalls(first: ScriptCall, second: ScriptCall): ScriptCall {
  const pair = `${first.script.sha} ${second.script.sha}`;
  let script = joins.get(pair);
  if (!script) joins.set(pair, (script = joined(first.script, second.script)));
  return script.call([...first.keys, ...second.keys], [first.keys.length, first.args.length, ...first.args, ...second.args]);
}

const joined = (first: Script, second: Script): Script =>
  defineScript(
    `local function first(KEYS, ARGV) ${first.lua} end
     local function second(KEYS, ARGV) ${second.lua} end
     local keys, args = tonumber(ARGV[1]), 2 + tonumber(ARGV[2])
     return {
       first({unpack(KEYS, 1, keys)}, {unpack(ARGV, 3, args)}),
       second({unpack(KEYS, keys + 1)}, {unpack(ARGV, args + 1)})
     }`,
  );

/** A trip to Redis and back; a batch of commands is one. */
export interface RoundTrip {
  readonly commands: readonly string[];
  readonly ms: number;
}

/** Redis, as narrow as we need it. Everything throws StoreUnavailableError: at once while disconnected, else within the command time-out. */
export interface Redis {
  /** Connected and answering, as far as is known. */
  readonly isReady: boolean;
  get(key: string): Promise<string | null>;
  /** False: `ifAbsent`, and it is there. */
  set(key: string, value: string, options: { ttlSeconds: number; ifAbsent?: boolean }): Promise<boolean>;
  /** How many there were. */
  delete(...keys: readonly string[]): Promise<number>;
  /** All in one round trip, replies in the same order. Not a transaction; a reply that is an error is thrown once all have run. */
  run(commands: readonly Command[]): Promise<Reply[]>;
  /** A function is called once, when the command leaves with its batch or fails before: until then the call can gather what it is for. */
  eval(call: ScriptCall | (() => ScriptCall)): Promise<Reply>;
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
  readonly log: Logger;
  readonly observe?: (trip: RoundTrip) => void;
  readonly random?: Random;
  readonly commandTimeoutMs?: number;
}

const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
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
    this.#tried = Promise.race([once(this.#client, 'ready'), once(this.#client, 'close')]).catch(() => {});
  }

  get isReady(): boolean {
    return this.#client.status === 'ready';
  }

  async get(key: string): Promise<string | null> {
    return (await this.#one(['get', key])) as string | null;
  }

  async set(key: string, value: string, options: { ttlSeconds: number; ifAbsent?: boolean }): Promise<boolean> {
    const reply = await this.#one(['set', key, value, 'EX', options.ttlSeconds, ...(options.ifAbsent ? ['NX'] : [])]);
    return reply === 'OK';
  }

  async delete(...keys: readonly string[]): Promise<number> {
    return keys.length === 0 ? 0 : ((await this.#one(['del', ...keys])) as number);
  }

  async eval(call: ScriptCall | (() => ScriptCall)): Promise<Reply> {
    return this.#one(call);
  }

  async run(commands: readonly Command[]): Promise<Reply[]> {
    return commands.length === 0 ? [] : this.#replies(commands);
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#send([['publish', channel, message]]).then(thrown);
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<() => Promise<void>> {
    const client = this.#open('');
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
    await this.#send([['ping']]).then(thrown);
  }

  async close(): Promise<void> {
    this.#client.disconnect();
    await Promise.resolve();
  }

  async #one(command: Sendable): Promise<Reply> {
    const [reply] = await this.#replies([command]);
    return reply ?? null;
  }

  async #replies(commands: readonly Sendable[]): Promise<Reply[]> {
    const exchange = await this.#send(commands);
    // A script that this Redis has not seen (first use, restart) is sent again in full; the other commands are not repeated.
    const unknown = exchange.flatMap(({ words, answer }, index) => (isUnknownScript(answer) ? [{ words, index }] : []));
    if (unknown.length > 0) {
      const again = await this.#send(unknown.map(({ words }) => inFull(words)));
      unknown.forEach(({ index }, at) => (exchange[index] = again[at] as Exchanged));
    }
    return thrown(exchange);
  }

  async #send(commands: readonly Sendable[]): Promise<Exchanged[]> {
    await this.#tried;
    const started = performance.now();
    const batch = (this.#batch ??= this.#newBatch());
    const from = batch.commands.push(...commands) - commands.length;
    const exchanged = (await batch.exchanged).slice(from, from + commands.length);
    this.#options.observe?.({ commands: exchanged.map(({ words: [name] }) => String(name)), ms: performance.now() - started });
    return exchanged;
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
    const timer = setTimeout(() => late.resolve(LATE), this.#options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS);
    const isLate = await Promise.race([beforeLast.then(turnEnded, turnEnded), late.promise]);
    this.#batch = undefined;
    const words = commands.map(toWords);
    const answers = isLate ?? (await Promise.race([this.#exec(words), late.promise]));
    clearTimeout(timer);
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

  #open(keyPrefix: string): Client {
    const { url, log, random = systemRandom, commandTimeoutMs = COMMAND_TIMEOUT_MS } = this.#options;
    const client = new Client(url, {
      keyPrefix,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: commandTimeoutMs,
      // A connection on which an answer is overdue is closed, so that later commands fail at once instead of waiting too.
      socketTimeout: commandTimeoutMs,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // A tenant's user has no INFO; a server that still loads its data says so to each command.
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: (attempt) => backOffMs(RECONNECT, attempt, random),
    });
    client.on('error', (error: Error) => log.debug({ err: error }, 'the connection to Redis failed'));
    return client;
  }
}

/** A function makes its call when the batch leaves. */
type Sendable = Command | Words | (() => ScriptCall);
type Answer = Reply | Error;
type Words = readonly (string | number)[];
interface Exchanged {
  readonly words: Words;
  readonly answer: Answer;
}

/**
 * The commands of all requests that came while two batches were on their way, or else in one turn of the event loop: one write and one read, here
 * and in Redis. Of two batches Redis works on one while this process works on the replies of the other. A command waits one round trip longer at
 * most: Redis answers a connection in order anyway.
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
  if (!('script' in command)) return command;
  return ['evalsha', command.script.sha, command.keys.length, ...command.keys, ...command.args];
}

const inFull = ([, sha, ...rest]: Words): Words => ['eval', SCRIPTS.get(String(sha)) ?? '', ...rest];
const isUnknownScript = (answer: Answer): boolean => answer instanceof Error && answer.message.startsWith('NOSCRIPT');

/** Replies of a server that is there and cannot serve: loading, busy, full, a replica, a wrong or withdrawn password. */
const CANNOT_SERVE = /^(LOADING|BUSY|OOM|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/;

/** An error reply of Redis (a wrong type, a command that is not allowed) is returned unchanged. */
function translateError(error: Error): Error {
  if (error.name === 'ReplyError' && !CANNOT_SERVE.test(error.message)) return error;
  return new StoreUnavailableError('redis', error);
}

const thrown = (exchange: readonly Exchanged[]): Reply[] =>
  exchange.map(({ answer }) => {
    if (answer instanceof Error) throw translateError(answer);
    return answer;
  });
