import { pino, type Logger as PinoLogger } from 'pino';
import { isTracing, traceFields } from './traces.ts';

export type Logger = PinoLogger;

const SECRET_KEYS = [
  'password',
  'secret',
  'token',
  'authorization',
  'cookie',
  'secretAccessKey',
  'access_token',
  'refresh_token',
  'privateKey',
];

interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string | number;
  readonly errors?: readonly SerializedError[];
}

/**
 * Returns the loggable fields of an error. Its other fields may hold secrets: ioredis attaches the command with the password of a
 * refused login, and other clients attach the statement's values or the request's headers.
 */
export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'a value that is not an Error was thrown', stack: '' };
  const { type, message, stack } = pino.stdSerializers.err(error);
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  return {
    type,
    message,
    stack,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map(serializeError) } : {}),
  };
}

/**
 * Creates a logger that writes structured JSON to standard output. Values under the names of secrets are never printed.
 * If tracing is on when it is created, lines carry the ids of the current span.
 * Lines are written asynchronously in batches; all of them are written before the process exits normally.
 */
export function createLogger(options: { program: string; level?: string | undefined }): Logger {
  return pino(
    {
      level: options.level ?? 'info',
      base: { program: options.program },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      ...(isTracing() ? { mixin: () => traceFields() } : {}),
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
    },
    pino.destination({ sync: false }),
  );
}

/** A logger for tests and tools that need no log. */
export const silentLogger: Logger = pino({ level: 'silent' });
