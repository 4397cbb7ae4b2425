import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { Problem } from '../../api/problem.ts';
import { readForm, type FilePart, type FormRules } from './multipart.ts';

const rules: FormRules = { file: 'file', fields: ['folder_id', 'on_conflict'], maxFileBytes: 1000 };
const BOUNDARY = 'x-boundary';
const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const filePart = (body: string, filename = 'a.txt', extra = 'Content-Type: text/plain\r\n'): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n${extra}\r\n${body}\r\n`;
const fieldPart = (name: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

const collect = async (part: FilePart): Promise<string> => Buffer.concat(await part.stream.toArray()).toString('utf8');

/** Sends `body` in pieces of `step` bytes, as a network would. */
function read<T>(
  body: string | Buffer,
  receive: (part: FilePart) => Promise<T>,
  step = 7,
  contentType: string | undefined = CONTENT_TYPE,
) {
  const bytes = Buffer.from(body);
  const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => bytes.subarray(at * step, (at + 1) * step));
  return readForm({ stream: Readable.from(pieces), contentType, signal: new AbortController().signal }, rules, receive);
}

describe('a form', () => {
  test('gives its file as a stream and its fields, before or after the file', async () => {
    const before: string[] = [];
    const form = await read(
      fieldPart('folder_id', 'f') + filePart('hello') + fieldPart('on_conflict', 'fail') + END,
      async (part) => {
        before.push(...part.fields.keys());
        return { name: part.name, mimeType: part.mimeType, text: await collect(part) };
      },
    );

    expect(form.file).toEqual({ name: 'a.txt', mimeType: 'text/plain', text: 'hello' });
    expect(Object.fromEntries(form.fields)).toEqual({ folder_id: 'f', on_conflict: 'fail' });
    expect(before).toEqual(['folder_id']);
  });

  test.each([
    ['raw UTF-8', filePart('x', 'отчёт 報告.pdf'), 'отчёт 報告.pdf'],
    [
      'filename*',
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="_"; filename*=UTF-8''%E2%82%AC.txt\r\n\r\nx\r\n`,
      '€.txt',
    ],
    ["a browser's quotes", filePart('x', "it's a %22quoted%22 name.txt"), 'it\'s a "quoted" name.txt'],
    ['an escaped line break', filePart('x', 'a%0D%0Ab'), 'a\r\nb'],
    ['other percent signs, as they are', filePart('x', '100%25 %2522 %0d %41.txt'), '100%25 %2522 %0d %41.txt'],
    ['a path, unshortened', filePart('x', '../../etc/passwd'), '../../etc/passwd'],
  ])('carries the file name as %s', async (_, part, name) => {
    const form = await read(part + END, async (file) => [file.name, await collect(file)]);
    expect(form.file).toEqual([name, 'x']);
  });

  test('carries an empty file and one of exactly the greatest size', async () => {
    expect((await read(filePart('') + END, collect)).file).toBe('');
    expect((await read(filePart('x'.repeat(1000)) + END, collect)).file).toHaveLength(1000);
  });

  test('gives back any bytes, however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 50 }), async (bytes, step) => {
        const [head, tail] = filePart('\u0000').split('\u0000');
        const body = Buffer.concat([Buffer.from(head ?? ''), bytes, Buffer.from(`${tail}${END}`)]);
        const form = await read(body, async (part) => Buffer.concat(await part.stream.toArray()), step);
        expect(Buffer.compare(form.file, Buffer.from(bytes))).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, string, string, string | undefined]>([
    ['without a file', fieldPart('folder_id', 'f') + END, 'validation_failed', CONTENT_TYPE],
    ['with nothing in it', END, 'validation_failed', CONTENT_TYPE],
    ['with an unknown field', fieldPart('colour', 'red') + filePart('x') + END, 'validation_failed', CONTENT_TYPE],
    ['with an unknown field after the file', filePart('x') + fieldPart('colour', 'red') + END, 'validation_failed', CONTENT_TYPE],
    [
      'with a field twice',
      fieldPart('folder_id', 'a') + fieldPart('folder_id', 'b') + filePart('x') + END,
      'validation_failed',
      CONTENT_TYPE,
    ],
    ['with two files', filePart('x') + filePart('y') + END, 'validation_failed', CONTENT_TYPE],
    ['with its file under another name', filePart('x').replace('"file"', '"upload"') + END, 'validation_failed', CONTENT_TYPE],
    [
      'with a part that has no name',
      `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n` + END,
      'validation_failed',
      CONTENT_TYPE,
    ],
    ['with a field of 5 KB', fieldPart('folder_id', 'a'.repeat(5000)) + filePart('x') + END, 'validation_failed', CONTENT_TYPE],
    ['with a hundred fields', fieldPart('folder_id', 'a').repeat(100) + filePart('x') + END, 'validation_failed', CONTENT_TYPE],
    ['that is cut in the file', filePart('hello').slice(0, -4), 'validation_failed', CONTENT_TYPE],
    ['that is cut in a header', filePart('x').slice(0, 40), 'validation_failed', CONTENT_TYPE],
    ['that is cut before the closing boundary', filePart('x'), 'validation_failed', CONTENT_TYPE],
    ['with a malformed part header', `--${BOUNDARY}\r\n\u0000: x\r\n\r\nx\r\n` + END, 'validation_failed', CONTENT_TYPE],
    ['with a file that is too large', filePart('x'.repeat(1001)) + END, 'payload_too_large', CONTENT_TYPE],
    ['that is empty', '', 'validation_failed', CONTENT_TYPE],
    ['that is no form', 'hello', 'validation_failed', CONTENT_TYPE],
    ['without a boundary', filePart('x') + END, 'validation_failed', 'multipart/form-data'],
    ['of another type', filePart('x') + END, 'validation_failed', 'text/plain'],
  ])('%s is refused', async (_, body, code, contentType) => {
    const settled: string[] = [];
    const failure = await read(
      body,
      async (part) => {
        try {
          return await collect(part);
        } finally {
          settled.push('settled');
        }
      },
      7,
      contentType,
    ).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Problem);
    expect((failure as Problem).code).toBe(code);
    expect(settled.length).toBeLessThanOrEqual(1);
  });
});

test('a client that goes away ends the file and the form', async () => {
  const client = new AbortController();
  const stream = new Readable({ read: () => undefined });
  stream.push(filePart('hello').slice(0, -4));
  const reason: unknown[] = [];

  const reading = readForm({ stream, contentType: CONTENT_TYPE, signal: client.signal }, rules, async (part) => {
    client.abort(new Error('gone'));
    return collect(part).catch((error: unknown) => reason.push(error));
  });

  await expect(reading).rejects.toMatchObject({ code: 'validation_failed' });
  expect(reason).toHaveLength(1);
});

test('the form fails with the error of the file’s receiver', async () => {
  const refusal = new Problem('quota_exceeded');
  await expect(read(filePart('hello') + END, () => Promise.reject(refusal))).rejects.toBe(refusal);
});
