/** A path's methods, upper case. */
type Methods<H> = Map<string, H>;

interface Template<H> {
  /** What the path is between its slashes; a parameter has a name. */
  readonly segments: readonly { readonly literal?: string; readonly parameter?: string }[];
  readonly methods: Methods<H>;
}

export interface Match<H> {
  /** Undefined: the path has no such method, or nothing has this path. */
  readonly handler: H | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** Without a handler: the methods of the path, none where nothing has it. */
  readonly methods: readonly string[];
}

/**
 * Which handler a path and a method have. A path is a template, `/files/{id}`: a parameter is one whole segment, and not an empty one.
 * A literal path is not an id: where there is `/users/me`, `/users/{id}` does not have that path. HEAD is answered as GET is.
 */
export class Routes<H> {
  readonly #literals = new Map<string, Methods<H>>();
  /** By number of segments; those with fewer parameters first. */
  readonly #templates = new Map<number, Template<H>[]>();

  add(method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options', path: string, handler: H): void {
    const methods = this.#methodsOf(path);
    methods.set(method.toUpperCase(), handler);
    if (method === 'get') methods.set('HEAD', handler);
  }

  match(method: string, path: string): Match<H> {
    const literal = this.#literals.get(path);
    if (literal) return { handler: literal.get(method), params: {}, methods: literal.has(method) ? [] : [...literal.keys()] };
    const segments = path.split('/');
    const methods: string[] = [];
    for (const template of this.#templates.get(segments.length) ?? []) {
      const params = paramsOf(template, segments);
      if (!params) continue;
      const handler = template.methods.get(method);
      if (handler) return { handler, params, methods: [] };
      methods.push(...template.methods.keys());
    }
    return { handler: undefined, params: {}, methods: [...new Set(methods)] };
  }

  #methodsOf(path: string): Methods<H> {
    if (!path.includes('{')) {
      const methods = this.#literals.get(path) ?? new Map<string, H>();
      this.#literals.set(path, methods);
      return methods;
    }
    const segments = path.split('/').map((text) => (text.startsWith('{') ? { parameter: text.slice(1, -1) } : { literal: text }));
    const templates = this.#templates.get(segments.length) ?? [];
    const same = templates.find((other) => JSON.stringify(other.segments) === JSON.stringify(segments));
    if (same) return same.methods;
    const made = { segments, methods: new Map<string, H>() };
    this.#templates.set(
      segments.length,
      [...templates, made].sort((a, b) => parameters(a) - parameters(b)),
    );
    return made.methods;
  }
}

const parameters = ({ segments }: Template<unknown>): number => segments.filter(({ parameter }) => parameter !== undefined).length;

/** Undefined: another path. */
function paramsOf({ segments }: Template<unknown>, texts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  let at = 0;
  for (const { literal, parameter } of segments) {
    const text = texts[at++] ?? '';
    if (parameter === undefined ? text !== literal : text === '') return undefined;
    if (parameter !== undefined) params[parameter] = decoded(text);
  }
  return params;
}

/** What is not percent-encoded UTF-8 stays as it is; no parameter's schema takes it. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
