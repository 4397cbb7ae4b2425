import { DataTypes, type ModelAttributes } from 'sequelize';

/** A column of a table; one declaration of a table defines the Sequelize model, the row's type and the type of a new row. */
export interface Column<T = unknown, Filled extends boolean = boolean> {
  readonly type: ColumnType;
  /** True if an insert may omit the column; it is then null or the database's default. */
  readonly filled: Filled;
  /** Carries T; never set. */
  readonly value?: T;
}

type ColumnType = 'bigint' | 'integer' | 'text' | 'uuid' | 'boolean' | 'timestamp' | 'json' | 'texts' | 'ltree';

const column = <T>(type: ColumnType): Column<T, false> => ({ type, filled: false });

export const bigint = column<number>('bigint');
export const integer = column<number>('integer');
export const text = column<string>('text');
export const uuid = column<string>('uuid');
export const boolean = column<boolean>('boolean');
export const timestamp = column<Date>('timestamp');
export const texts = column<readonly string[]>('texts');
export const ltree = column<string>('ltree');
export const json = <T>(): Column<T, false> => column<T>('json');
/** Text that a CHECK restricts to these values. */
export const oneOf = <T extends string>(..._values: readonly T[]): Column<T, false> => column<T>('text');
export const textsOf = <T extends string>(..._values: readonly T[]): Column<readonly T[], false> => column<readonly T[]>('texts');

export const nullable = <T>(of: Column<T>): Column<T | null, true> => ({ type: of.type, filled: true });
/** The column has a default in the database. */
export const filled = <T>(of: Column<T>): Column<T, true> => ({ type: of.type, filled: true });

export type Columns = Readonly<Record<string, Column>>;

export interface TableDefinition<C extends Columns = Columns> {
  /** The table's name in the database. */
  readonly name: string;
  /** Fields of the primary key. */
  readonly key: readonly string[];
  readonly columns: C;
}

export const table = <C extends Columns>(name: string, key: readonly (keyof C & string)[], columns: C): TableDefinition<C> => ({
  name,
  key,
  columns,
});

type ValueOf<C> = C extends Column<infer T> ? T : never;
export type RowOf<D> = D extends TableDefinition<infer C> ? { readonly [K in keyof C]: ValueOf<C[K]> } : never;
type FilledKeys<C extends Columns> = { [K in keyof C]: C[K]['filled'] extends true ? K : never }[keyof C];
type NewColumns<C extends Columns> = { readonly [K in Exclude<keyof C, FilledKeys<C>>]: ValueOf<C[K]> } & {
  readonly [K in FilledKeys<C>]?: ValueOf<C[K]> | undefined;
};
export type NewOf<D> = D extends TableDefinition<infer C> ? NewColumns<C> : never;

/** folderId → folder_id */
export const columnName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const SEQUELIZE_TYPES = {
  bigint: DataTypes.BIGINT,
  integer: DataTypes.INTEGER,
  text: DataTypes.TEXT,
  uuid: DataTypes.UUID,
  boolean: DataTypes.BOOLEAN,
  timestamp: DataTypes.DATE(3),
  json: DataTypes.JSONB,
  texts: DataTypes.ARRAY(DataTypes.TEXT),
  ltree: 'LTREE',
} as const;

/** Returns the attributes of the Sequelize model. Nothing is ever synchronised from them: only migrations create the schema. */
export const attributesOf = (definition: TableDefinition): ModelAttributes =>
  Object.fromEntries(
    Object.entries(definition.columns).map(([field, { type }]) => [
      field,
      {
        type: SEQUELIZE_TYPES[type],
        field: columnName(field),
        ...(definition.key.includes(field) ? { primaryKey: true } : {}),
        ...(field === 'id' && definition.columns.id?.filled && type !== 'uuid' ? { autoIncrement: true } : {}),
      },
    ]),
  );
