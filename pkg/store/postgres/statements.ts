import { definitions } from './tables.ts';

type Name = keyof typeof definitions;
type Sql = { readonly query: unknown; readonly prepared: unknown };

/** Statements and tables. A table is created on first use: there are thirty of them, and few transactions use more than two. */
class Statements {
  readonly query: Sql['query'];
  readonly prepared: Sql['prepared'];
  readonly #table: (name: Name) => unknown;
  readonly #made = new Map<Name, unknown>();

  static {
    for (const name of Object.keys(definitions) as Name[])
      Object.defineProperty(this.prototype, name, {
        get(this: Statements) {
          return this.#tableOf(name);
        },
      });
  }

  constructor({ query, prepared }: Sql, table: (name: Name) => unknown) {
    this.query = query;
    this.prepared = prepared;
    this.#table = table;
  }

  #tableOf(name: Name): unknown {
    const made = this.#made.get(name) ?? this.#table(name);
    this.#made.set(name, made);
    return made;
  }
}

/** Creates an Executor; `table` creates the table of that name. */
export const statements = (sql: Sql, table: (name: Name) => unknown): unknown => new Statements(sql, table);
