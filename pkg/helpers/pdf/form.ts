import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { Refusal } from '../refusal.ts';

export interface FormRules {
  /** Names of the text fields. Each may occur at most once, before or after the file. */
  readonly fields: readonly string[];
  readonly maxBytes: number;
}

const MAX_FIELD_BYTES = 256;
/** Readers accept bytes before the header, within the first KiB. */
const HEADER_WITHIN = 1_024;

/**
 * Writes the part `file` of a multipart/form-data body to `path` as it arrives, and returns the text fields. Throws
 * `validation_failed`, `payload_too_large`, `unsupported_media_type` (the content is not a PDF), or the signal's reason.
 */
export async function receivePdf(
  request: IncomingMessage,
  path: string,
  { fields: names, maxBytes }: FormRules,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>();
  const parser = parserFor(request, names, maxBytes);
  const ended = new AbortController();
  const fail = (refusal: Refusal): void => ended.abort(refusal);
  let writing: Promise<void> | undefined;
  parser.on('field', (field: string | undefined, value, info) => {
    if (field === undefined || !names.includes(field))
      return fail(invalid(`"${String(field).slice(0, 64)}" is not a field of this form.`));
    if (fields.has(field) || info.valueTruncated) return fail(invalid(`${field} is repeated or too long.`));
    fields.set(field, value);
  });
  parser.on('file', (field: string | undefined, stream) => {
    if (field !== 'file') {
      stream.resume();
      return fail(invalid(`"${String(field).slice(0, 64)}" is not a field of this form: send the PDF as file.`));
    }
    stream.on('limit', () => fail(new Refusal('payload_too_large', `A PDF may have at most ${maxBytes} bytes here.`)));
    writing = pipeline(stream, createWriteStream(path), { signal: ended.signal });
    writing.catch((error: unknown) => ended.abort(error));
  });
  for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    parser.on(limit, () => fail(invalid('The form has too many parts.')));
  try {
    await pipeline(request.iterator({ destroyOnReturn: false }), parser, { signal: AbortSignal.any([signal, ended.signal]) });
    await writing;
  } catch (error) {
    await writing?.catch(() => {});
    signal.throwIfAborted();
    throw ended.signal.aborted && ended.signal.reason instanceof Refusal ? ended.signal.reason : malformed(error);
  }
  if (!writing) throw invalid('file is missing.');
  if (!(await isPdf(path))) throw new Refusal('unsupported_media_type', 'file is not a PDF.');
  return fields;
}

const invalid = (message: string): Refusal => new Refusal('validation_failed', message);
const isDiskError = (error: unknown): boolean =>
  /^E(NOSPC|DQUOT|ACCES|ROFS|IO)$/.test(String((error as NodeJS.ErrnoException).code));
const malformed = (error: unknown): unknown =>
  isDiskError(error) ? error : invalid('The body is not well-formed multipart/form-data, or ended too early.');

function parserFor(request: IncomingMessage, names: readonly string[], maxBytes: number): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      // The parser reports a limit when it is reached, not when it is exceeded.
      limits: { files: 1, fields: names.length + 1, parts: names.length + 3, fieldSize: MAX_FIELD_BYTES, fileSize: maxBytes + 1 },
    });
  } catch (error) {
    throw malformed(error);
  }
}

/** Checks the content, not the name. */
export async function isPdf(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_WITHIN), 0, HEADER_WITHIN, 0);
  return buffer.subarray(0, bytesRead).includes('%PDF-');
}
