/** A value of a reply that is JSON already. Where it is not sent as it is, it becomes the value that it stands for. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Returns the body of a reply as JSON. Items of a page that are JSON already are taken as they are. */
export function jsonOf(body: unknown): string {
  const { data } = (body ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data) || !data.some((item) => item instanceof JsonText)) return JSON.stringify(body);
  const items = data.map((item) => (item instanceof JsonText ? item.text : JSON.stringify(item)));
  return `{"data":[${items.join(',')}],${JSON.stringify({ ...(body as object), data: undefined }).slice(1)}`;
}
