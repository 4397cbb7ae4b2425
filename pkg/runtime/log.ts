import { pino, type Logger as PinoLogger } from 'pino';

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

interface Told {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string | number;
  readonly errors?: readonly Told[];
}

/**
 * Of an error only what says what went wrong. Its other fields hold what it was about: ioredis puts the command there, with the password
 * of a refused login, others the statement's values or the request's headers.
 */
export function told(error: unknown): Told {
  if (!(error instanceof Error)) return { type: typeof error, message: 'something that is no Error was thrown', stack: '' };
  const { type, message, stack } = pino.stdSerializers.err(error);
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  return {
    type,
    message,
    stack,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map(told) } : {}),
  };
}

/**
 * Structured JSON logs on standard output; values under the names of secrets are never printed.
 * Lines that come while one is being written go out together; at the process's own exit nothing is left behind.
 */
export function createLogger(options: { program: string; level?: string | undefined }): Logger {
  return pino(
    {
      level: options.level ?? 'info',
      base: { program: options.program },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: told },
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
    },
    pino.destination({ sync: false }),
  );
}

/** A logger for tests and tools that want none of it. */
export const silentLogger: Logger = pino({ level: 'silent' });
