import type { Operation } from './operation.ts';

/** What a person has entered: texts and files by the name of the input, and the text or file of the body. */
export interface Entered {
  readonly values: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, File>>;
  readonly body: string;
  readonly bodyFile: File | undefined;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInit | undefined;
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** Returns the request for what was entered. `base`: the address of the API. Inputs that were left empty are left out. */
export function requestOf({ method, path, inputs, body }: Operation, base: string, entered: Entered): Request {
  const filled = inputs.filter(({ name }) => (entered.values[name] ?? '') !== '');
  const valueOf = (name: string): string => entered.values[name] ?? '';
  const query = new URLSearchParams(
    filled
      .filter((input) => input.in === 'query')
      .flatMap(({ name, kind }) => {
        if (kind === 'list') return lines(valueOf(name)).map((value) => [name, value]);
        if (kind !== 'object') return [[name, valueOf(name)]];
        return lines(valueOf(name)).map((line) => {
          const [key = '', ...rest] = line.split('=');
          return [`${name}[${key}]`, rest.join('=')];
        });
      }),
  ).toString();
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(valueOf(name).trim()));
  const headers = Object.fromEntries(
    filled.filter((input) => input.in === 'header').map(({ name }) => [name, valueOf(name)] as const),
  );
  const url = `${base}${address}${query === '' ? '' : `?${query}`}`;
  if (body?.kind === 'json' && entered.body.trim() !== '')
    return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: entered.body };
  if (body?.kind === 'file')
    return { method, url, headers: { ...headers, 'content-type': body.mediaType }, body: entered.bodyFile };
  if (body?.kind !== 'form') return { method, url, headers, body: undefined };
  const form = new FormData();
  // The server reads the fields before the file.
  for (const { name } of filled.filter((input) => input.in === 'form')) form.append(name, valueOf(name));
  for (const [name, file] of Object.entries(entered.files)) form.append(name, file);
  return { method, url, headers, body: form };
}
