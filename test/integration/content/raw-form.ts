import type { Api, ApiReply } from '../../support/clients/api.ts';

const BOUNDARY = 'hostile-boundary';
export const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

/** A text field as its bytes go over the wire. */
export const field = (name: string, value: string | Buffer, type?: string): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n`),
    Buffer.from(`${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);

/** A file part whose name is exactly these bytes. */
export const filePart = (content: string | Buffer, name: string | Buffer, type = 'text/plain'): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="`),
    Buffer.from(name),
    Buffer.from(`"\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);

/** Sends these parts, whatever they are, as one form. */
export const sendForm = (api: Api, parts: readonly Buffer[], method = 'POST', path = '/files'): Promise<ApiReply> =>
  api.raw(method, path, {
    headers: { 'content-type': FORM },
    body: Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]),
  });
