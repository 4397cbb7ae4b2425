import busboy from 'busboy';
import type { Readable } from 'node:stream';
import { invalid, Problem } from '../../api/problem.ts';

/** A part of a multipart/form-data body that is a file; `stream` must be read to its end or destroyed. */
export interface FilePart {
  /** In UTF-8, as the client's user sees it; never shortened to its last segment. */
  readonly name: string | undefined;
  /** `type/subtype` in lower case; `text/plain` where the part names none (RFC 7578 §4.4). */
  readonly mimeType: string;
  readonly stream: Readable;
  /** Fields that came before the file. */
  readonly fields: ReadonlyMap<string, string>;
  /** Aborted when the rest of the form is invalid or the client disconnects. */
  readonly signal: AbortSignal;
}

export interface FormRules {
  /** The name of the one file part. */
  readonly file: string;
  /** Names of the text fields, each at most once, before or after the file. */
  readonly fields: readonly string[];
  readonly maxFileBytes: number;
}

const MAX_FIELD_BYTES = 4096;
const MAX_FIELD_NAME_BYTES = 100;
const MAX_HEADERS_PER_PART = 20;

/**
 * Reads a multipart/form-data body with one file, which `receive` takes as it comes (nothing is kept in memory or on disk).
 *
 * - Every error of the form (an unknown field, a second file, no file, a truncated body, a malformed part) is one 4xx of the
 *   catalogue. It is thrown only after `receive` has settled, so that the caller can undo what it did.
 * - The request's own stream is never destroyed here, because the reply still needs the connection.
 */
export async function readForm<T>(
  request: {
    readonly stream: Readable;
    readonly contentType: string | undefined;
    /** Aborted when the client disconnects, or with the Problem that ends the request. */
    readonly signal: AbortSignal;
  },
  rules: FormRules,
  receive: (part: FilePart) => Promise<T>,
): Promise<{ readonly file: T; readonly fields: ReadonlyMap<string, string> }> {
  const parser = parserFor(request.contentType, rules);
  const fields = new Map<string, string>();
  const broken = new AbortController();
  let receiving: Promise<T> | undefined;

  const fail = (reason: unknown): void => {
    if (!broken.signal.aborted) broken.abort(reason);
  };
  parser.on('field', (name: string | undefined, value: string | undefined, info) => {
    if (name === undefined || !rules.fields.includes(name)) return fail(unknownField(name));
    if (fields.has(name)) return fail(invalid(name, 'must not be repeated'));
    if (info.valueTruncated || info.nameTruncated) return fail(invalid(name, `must have at most ${MAX_FIELD_BYTES} bytes`));
    // Undefined: the parser does not know the charset; U+FFFD stands for bytes that are not of it.
    if (value === undefined || !value.isWellFormed() || value.includes('\uFFFD'))
      return fail(invalid(name, 'must be text in UTF-8'));
    fields.set(name, value);
  });
  parser.on('file', (name: string | undefined, stream, info) => {
    // The reader rejects with any other error.
    stream.on('error', (error) => isCutShort(error) && fail(cutShort()));
    if (name !== rules.file || broken.signal.aborted) {
      fail(unknownField(name));
      stream.resume();
      return;
    }
    stream.on('limit', () => fail(tooLarge(rules.maxFileBytes)));
    broken.signal.addEventListener('abort', () => stream.destroy(asError(broken.signal.reason)), { once: true });
    receiving = receive({
      name: fileName(info.filename),
      mimeType: info.mimeType,
      stream,
      fields: new Map(fields),
      signal: broken.signal,
    });
    receiving.catch(fail);
  });
  parser.on('filesLimit', () => fail(invalid(rules.file, 'must not be repeated')));
  parser.on('fieldsLimit', () => fail(tooManyParts()));
  parser.on('partsLimit', () => fail(tooManyParts()));

  try {
    await pump(request, parser, broken.signal);
    // The parser passes a part by whose name it cannot decode.
    if (!receiving) throw invalid(rules.file, 'is missing, or its name is in an unknown charset: send the name in UTF-8');
    return { file: await receiving, fields };
  } catch (error) {
    fail(error);
    await receiving?.catch(() => undefined);
    throw broken.signal.reason;
  }
}

/** Feeds the parser until the form is complete; rejects at the first error, also if the client disconnects. */
function pump(request: { stream: Readable; signal: AbortSignal }, parser: busboy.Busboy, broken: AbortSignal): Promise<void> {
  const { stream, signal } = request;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onGone = (): void => reject(cutShort());
  const onAbort = (): void => reject(signal.reason instanceof Problem ? signal.reason : cutShort());
  const onClose = (): void => {
    if (!stream.readableEnded) reject(cutShort());
  };
  broken.addEventListener('abort', () => reject(asError(broken.reason)), { once: true });
  signal.addEventListener('abort', onAbort, { once: true });
  stream.on('error', onGone).on('close', onClose);
  parser.on('error', (error: unknown) => reject(malformed(error)));
  parser.on('close', () => resolve());
  if (signal.aborted) onAbort();
  else stream.pipe(parser);
  return promise.finally(() => {
    stream.unpipe(parser);
    stream.off('close', onClose);
    signal.removeEventListener('abort', onAbort);
    parser.destroy();
  });
}

function parserFor(contentType: string | undefined, rules: FormRules): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType ?? '' },
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        files: 1,
        fields: rules.fields.length + 1,
        parts: rules.fields.length + 3,
        fieldSize: MAX_FIELD_BYTES,
        fieldNameSize: MAX_FIELD_NAME_BYTES,
        headerPairs: MAX_HEADERS_PER_PART,
        fileSize: rules.maxFileBytes + 1, // the parser reports the limit when it is reached, not when it is exceeded
      },
    });
  } catch (error) {
    throw malformed(error);
  }
}

const FORM_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/**
 * Browsers, fetch and curl write these three characters of a name so, and nothing else (HTML, multipart/form-data encoding
 * algorithm): undone, the name is what the client's user sees. The parser does not distinguish `filename*` (RFC 8187) from
 * `filename`; RFC 7578 §4.2 forbids it in forms.
 */
const fileName = (sent: string | undefined): string | undefined =>
  sent?.replaceAll(/%22|%0D|%0A/g, (sign) => FORM_ESCAPES[sign] ?? sign);

/** The parser has no codes for it. */
const isCutShort = (error: unknown): boolean => error instanceof Error && error.message.startsWith('Unexpected end of');
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
const cutShort = (): Problem => new Problem('validation_failed', 'The body ended before the form was complete.');
const tooManyParts = (): Problem => new Problem('validation_failed', 'The form has too many parts.');
const tooLarge = (bytes: number): Problem => new Problem('payload_too_large', `A file may have at most ${bytes} bytes here.`);
const unknownField = (name: string | undefined): Problem =>
  invalid(name === undefined ? 'body' : name.slice(0, 100), 'is not a field of this form');

function malformed(error: unknown): unknown {
  if (error instanceof Problem) return error;
  if (isCutShort(error)) return cutShort();
  return new Problem('validation_failed', 'The body is not well-formed multipart/form-data.', { cause: error });
}
