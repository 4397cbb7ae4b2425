import { isDeepStrictEqual } from 'node:util';
import { type Model, type ModelStatic, Op, type Transaction, type WhereOptions } from 'sequelize';
import { columnName, type TableDefinition } from './columns.ts';
import { translateError } from './errors.ts';
import { quoteIdentifier, type Sql } from './pool.ts';

/** Equality; null is IS NULL, an array is IN. Any other condition needs its own statement (`query`). */
export type Where<Row> = { readonly [K in keyof Row]?: Row[K] | readonly Exclude<Row[K], null>[] };

export interface ListOptions<Row> {
  readonly orderBy?: readonly (readonly [keyof Row & string, 'asc' | 'desc'])[];
  readonly limit?: number;
  readonly lock?: 'update' | 'share';
}

/**
 * One table's plain reads and writes. Writes throw UniqueViolation, ForeignKeyViolation, CheckViolation; all throw
 * StoreUnavailableError.
 */
export interface Table<Row, New> {
  insert(row: New): Promise<Row>;
  /** Returns null if a unique key already exists. Does not abort the transaction. */
  insertIfAbsent(row: New): Promise<Row | null>;
  find(where: Where<Row>, options?: Pick<ListOptions<Row>, 'lock'>): Promise<Row | null>;
  list(where: Where<Row>, options?: ListOptions<Row>): Promise<Row[]>;
  /** Returns the updated rows. Undefined fields stay unchanged. */
  update(where: Where<Row>, changes: Partial<New>): Promise<Row[]>;
  /**
   * Changes a row, which has an `id`, and returns its new state; undefined if it was deleted. Writes only the fields that differ,
   * so that a change to the present values makes no new revision. The caller has locked the row.
   */
  change(row: Row, changes: Partial<New>): Promise<Row | undefined>;
  /** Returns the number of deleted rows. */
  delete(where: Where<Row>): Promise<number>;
  count(where: Where<Row>): Promise<number>;
}

export const TABLE_METHODS = [
  'insert',
  'insertIfAbsent',
  'find',
  'list',
  'update',
  'change',
  'delete',
  'count',
] as const satisfies (keyof Table<unknown, unknown>)[];

type Values = Record<string, unknown>;

/** The database validates, and there are no hooks: both would cost more than the statement. */
const PLAIN = { validate: false, hooks: false } as const;

/** A table over a Sequelize model, in a transaction or on its own. */
export class ModelTable implements Table<Values, Values> {
  readonly #definition: TableDefinition;
  readonly #model: ModelStatic<Model>;
  readonly #sql: Sql;
  readonly #transaction: Transaction | undefined;

  constructor(definition: TableDefinition, model: ModelStatic<Model>, sql: Sql, transaction?: Transaction) {
    this.#definition = definition;
    this.#model = model;
    this.#sql = sql;
    this.#transaction = transaction;
  }

  async insert(row: Values): Promise<Values> {
    return this.#translated(async () => {
      const created = await this.#model.create(defined(row), { ...this.#scope(), ...PLAIN, returning: true });
      return created.get({ plain: true }) as Values;
    });
  }

  async insertIfAbsent(row: Values): Promise<Values | null> {
    const entries = Object.entries(defined(row));
    const names = entries.map(([field]) => quoteIdentifier(columnName(field))).join(', ');
    const parameters = entries.map((_entry, index) => `$${index + 1}`).join(', ');
    const values = entries.map(([field, value]) =>
      this.#definition.columns[field]?.type === 'json' && value !== null ? JSON.stringify(value) : value,
    );
    const table = quoteIdentifier(this.#definition.name);
    const sql = `INSERT INTO ${table} (${names}) VALUES (${parameters}) ON CONFLICT DO NOTHING RETURNING ${this.#columns()}`;
    const [inserted] = await this.#sql.query<Values>(sql, values);
    return inserted ?? null;
  }

  async find(where: Where<Values>, options: Pick<ListOptions<Values>, 'lock'> = {}): Promise<Values | null> {
    const [first] = await this.list(where, { ...options, limit: 1 });
    return first ?? null;
  }

  async list(where: Where<Values>, options: ListOptions<Values> = {}): Promise<Values[]> {
    return this.#translated(async () => {
      const rows = await this.#model.findAll({
        ...this.#scope(),
        ...PLAIN,
        where: conditions(where),
        raw: true,
        ...(options.orderBy ? { order: options.orderBy.map(([field, way]): [string, string] => [field, way]) } : {}),
        ...(options.limit === undefined ? {} : { limit: options.limit }),
        ...(options.lock && this.#transaction
          ? { lock: options.lock === 'update' ? this.#transaction.LOCK.UPDATE : this.#transaction.LOCK.SHARE }
          : {}),
      });
      return rows as unknown as Values[];
    });
  }

  async update(where: Where<Values>, changes: Partial<Values>): Promise<Values[]> {
    return this.#translated(async () => {
      const [, rows] = await this.#model.update(defined(changes), {
        ...this.#scope(),
        ...PLAIN,
        sideEffects: false,
        where: conditions(where),
        returning: true,
      });
      return rows.map((row) => row.get({ plain: true }) as Values);
    });
  }

  async change(row: Values, changes: Partial<Values>): Promise<Values | undefined> {
    const differing = Object.entries(defined(changes)).filter(([field, value]) => !isDeepStrictEqual(row[field], value));
    if (differing.length === 0) return row;
    const [changed] = await this.update({ id: row['id'] }, Object.fromEntries(differing));
    return changed;
  }

  async delete(where: Where<Values>): Promise<number> {
    return this.#translated(() => this.#model.destroy({ ...this.#scope(), where: conditions(where) }));
  }

  async count(where: Where<Values>): Promise<number> {
    return this.#translated(() => this.#model.count({ ...this.#scope(), where: conditions(where) }));
  }

  #scope(): { transaction?: Transaction } {
    return this.#transaction ? { transaction: this.#transaction } : {};
  }

  #columns(): string {
    return Object.keys(this.#definition.columns)
      .map((field) => `${quoteIdentifier(columnName(field))} AS ${quoteIdentifier(field)}`)
      .join(', ');
  }

  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translateError(error);
    }
  }
}

const defined = (values: Values): Values => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** An undefined in a condition would silently widen it to every row, so it is refused. */
function conditions(where: Where<Values>): WhereOptions {
  return Object.fromEntries(
    Object.entries(where).map(([field, value]) => {
      if (value === undefined) throw new TypeError(`the condition on ${field} is undefined`);
      return [field, Array.isArray(value) ? { [Op.in]: value as unknown[] } : value];
    }),
  ) as WhereOptions;
}
