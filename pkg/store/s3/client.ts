import { Agent as HttpAgent, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { PassThrough } from 'node:stream';
import type { OnReadOpts, Socket } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { isTracing } from '../../runtime/traces.ts';
import { ReplyTooLarge } from './errors.ts';
import { FREE_BYTES, NAMED_STORE_REPLIES } from './reply-budget.ts';
import { traceCommands } from './request-span.ts';
import {
  ANSWER_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  KEPT_CONNECTION_MS,
  replyTimeoutMs,
  WHOLE_OBJECT_TIMEOUT_MS,
} from './timeouts.ts';

/** Opens a connection that is ready for use, TLS included (pkg/net: guardedSockets). */
export type Connect = (target: { protocol: string; hostname: string; port: string }) => Promise<Socket>;

export interface ClientOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For an endpoint that a tenant named. Default: plain connections. */
  readonly connect?: Connect | undefined;
}

/**
 * Each download holds a connection until its reader is done, so there are as many connections as a server can have concurrent
 * downloads; one more waits.
 */
export const CONNECTIONS_MAX = 2_000;
/** Unused connections are closed even if nothing uses the client any longer. */
const KEPT = { keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: KEPT_CONNECTION_MS };
const ATTEMPTS = 2;
/** The SDK reads no listing of a tenant's; the largest reply lists 1,000 objects that a store did not delete. */
const MAX_REPLY_BYTES = 8 << 20;
const MAX_REPLY_BYTES_OF_NAMED = 1 << 20;
/** A reply that the SDK has parsed takes about this many times its bytes. */
const PARSED_TIMES = 10;
/** The interval of checks whether a reply arrives fast enough. */
const STALL_CHECK_MS = 500;

/**
 * Path style, since a host per bucket needs DNS; checksums only where the protocol demands them, since we store our own SHA-256.
 * `onread`: how plain connections read (read-buffer.ts). Connections with TLS and those of `connect` read as Node does.
 * `highWaterMark`: the bytes that a connection buffers while the reply is not read.
 */
export function newClient(options: ClientOptions, reading: { onread?: OnReadOpts; highWaterMark?: number } = {}): S3Client {
  const { onread, ...streams } = reading;
  const client = new S3Client({
    endpoint: options.endpoint,
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: dialledBy(new HttpAgent({ ...KEPT, ...streams, ...(onread ? { onread } : {}) }), 'http:', options.connect),
      httpsAgent: dialledBy(new HttpsAgent({ ...KEPT, ...streams }), 'https:', options.connect),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
  boundReplies(client, options);
  if (isTracing()) traceCommands(client);
  return client;
}

function dialledBy<A extends HttpAgent>(agent: A, protocol: string, connect: Connect | undefined): A {
  if (!connect) return agent;
  agent.createConnection = (
    { host, port }: ClientRequestArgs,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined => {
    // Node accepts only the callback's error, and passes the brackets of an IPv6 address.
    const give = done as (error: Error | null, stream?: Duplex) => void;
    const hostname = String(host).replaceAll(/^\[|\]$/g, '');
    connect({ protocol, hostname, port: String(port ?? '') }).then(
      (socket) => give(null, socket),
      (error: Error) => give(error),
    );
    return undefined;
  };
  return agent;
}

/**
 * Sends bytes without a SHA-256 in the signature (`UNSIGNED-PAYLOAD`), which saves a quarter of an upload's CPU. TLS, if used,
 * protects them in transit, and a file's row has its SHA-256.
 */
export const leaveBytesUnsigned = (client: S3Client): void =>
  client.middlewareStack.add(
    (next, context) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      if (context.commandName === 'UploadPartCommand' || context.commandName === 'PutObjectCommand')
        headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'leaveBytesUnsigned' },
  );

/** The SDK buffers every reply except an object's bytes; a reply beyond the limits is ended with its connection. */
const boundReplies = (client: S3Client, { connect, endpoint }: ClientOptions): void =>
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode?: number; body?: IncomingMessage };
      const isObject = context.commandName === 'GetObjectCommand' && (response.statusCode ?? 0) < 300;
      const timeoutMs = WHOLE_OBJECT_COMMANDS.has(context.commandName ?? '') ? () => WHOLE_OBJECT_TIMEOUT_MS : replyTimeoutMs;
      if (response.body && !isObject)
        response.body = bounded(response.body, { timeoutMs, named: connect && endpoint }) as unknown as IncomingMessage;
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'boundReplies' },
  );

/** The store sends spaces while it works, until it has copied or joined all bytes (S3 API). */
const WHOLE_OBJECT_COMMANDS: ReadonlySet<string> = new Set(['CopyObjectCommand', 'CompleteMultipartUploadCommand']);

interface Bounds {
  /** The time limit for this many bytes. */
  readonly timeoutMs: (bytes: number) => number;
  /** The endpoint, if a tenant named it. */
  readonly named: string | undefined;
}

function bounded(body: IncomingMessage, { timeoutMs, named }: Bounds): PassThrough {
  const most = named === undefined ? MAX_REPLY_BYTES : MAX_REPLY_BYTES_OF_NAMED;
  let begun = performance.now();
  let bytes = 0;
  let taken: Promise<() => void> | undefined;
  let isWaiting = false;
  const isLate = (): boolean => !isWaiting && performance.now() - begun > timeoutMs(bytes);
  /** Waits for the budget of named stores. */
  const admit = async (): Promise<void> => {
    if (named === undefined || taken || bytes <= FREE_BYTES) return;
    const since = performance.now();
    isWaiting = true;
    taken = NAMED_STORE_REPLIES.take(named, PARSED_TIMES * most);
    await taken;
    isWaiting = false;
    begun += performance.now() - since;
  };
  const read = new PassThrough({
    transform(chunk: Buffer, _encoding, done) {
      if (isLate()) return done(new ReplyTooLarge('a reply of the store arrives too slowly'));
      bytes += chunk.length;
      if (bytes > most) done(new ReplyTooLarge(`a reply of the store is larger than ${most} bytes`));
      else
        admit().then(
          () => done(null, chunk),
          (error: Error) => done(error),
        );
    },
  });
  const watch = setInterval(() => {
    if (isLate()) read.destroy(new ReplyTooLarge('a reply of the store arrives too slowly'));
  }, STALL_CHECK_MS).unref();
  read.once('close', () => {
    clearInterval(watch);
    void taken?.then(
      (release) => release(),
      () => undefined,
    );
    if (!body.readableEnded) body.destroy();
  });
  body.once('error', (error) => read.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) read.destroy(new Error('socket hang up'));
  });
  return body.pipe(read);
}
