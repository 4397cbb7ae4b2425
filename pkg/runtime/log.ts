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
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
    },
    pino.destination({ sync: false }),
  );
}

/** A logger for tests and tools that want none of it. */
export const silentLogger: Logger = pino({ level: 'silent' });
