import { randomBytes } from 'node:crypto';

export interface SentFile {
  readonly name: string;
  readonly size: number;
  /** Opens its bytes when they are needed. */
  open(): AsyncIterable<Uint8Array>;
}

/**
 * Returns a multipart/form-data body (RFC 7578) of text fields followed by the PDF `file`; its length is known although it
 * streams.
 */
export function multipart(
  fields: Readonly<Record<string, string>>,
  file: SentFile,
): { contentType: string; contentLength: number; body: AsyncGenerator<Uint8Array> } {
  const boundary = `carrel-${randomBytes(16).toString('hex')}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="file"; filename="${escaped(file.name)}"`;
  const head = Buffer.from(
    `${texts.join('')}--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: application/pdf\r\n\r\n`,
    'utf8',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    yield* file.open();
    yield tail;
  };
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: head.length + file.size + tail.length,
    body: body(),
  };
}

/** Escapes a name as browsers do (HTML Standard, multipart/form-data encoding algorithm). */
const escaped = (name: string): string => name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
