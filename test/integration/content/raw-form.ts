import type { Api, ApiReply } from '../../support/api.ts';

const BOUNDARY = 'hostile-boundary';
export const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

/** A text field as its bytes go over the wire. */
export const field = (name: string, value: string): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);

/** A file part whose name is exactly these bytes. */
export const filePart = (content: string | Buffer, name: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="`),
    Buffer.from(name),
    Buffer.from('"\r\nContent-Type: text/plain\r\n\r\n'),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);

/** Posts these parts, whatever they are, as one form. */
export const sendForm = (api: Api, parts: readonly Buffer[]): Promise<ApiReply> =>
  api.raw('POST', '/files', { headers: { 'content-type': FORM }, body: Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]) });
