import { AS_OWNER, type FunctionBody, triggerFunction } from './function.ts';

/** The functions that write the audit log: each belongs to a table, and its triggers call it. */

/** Returns the functions of these tables' triggers. */
export const auditFunctions = (byTable: Readonly<Record<string, FunctionBody>>): string =>
  Object.entries(byTable)
    .map(([table, does]) => triggerFunction(`audit_${table}`, does, AS_OWNER))
    .join('\n');

/** Returns the fields of `row` that an entry shows, as JSON; `row` is null where there is none. */
export const shown = (row: 'OLD' | 'NEW', fields: Readonly<Record<string, string>>): string =>
  `jsonb_build_object(${Object.entries(fields)
    .map(([name, column]) => `'${name}', ${column.replaceAll('$', row)}`)
    .join(', ')})`;

export const uuidOf = (table: string, column: string): string => `(SELECT t.uuid FROM ${table} t WHERE t.id = $.${column})`;

/** Returns the change of a value that entries never show. */
const secret = (name: string, when: string): string =>
  `CASE WHEN ${when} THEN '{"${name}": {"from": null, "to": null}}'::jsonb ELSE '{}' END`;

/** Returns the function for creation, change and deletion of rows that have a uuid. */
export const resource = (
  type: string,
  {
    name,
    fields,
    secrets = {},
    action = `'${type}.update'`,
    showsDeleted = false,
  }: {
    readonly name: string;
    readonly fields: Readonly<Record<string, string>>;
    /** Columns by the names that entries have for them. */
    readonly secrets?: Readonly<Record<string, string>>;
    /** An expression for the action of an UPDATE. Left out: `<type>.update`. */
    readonly action?: string;
    /** Whether the entry of a deletion shows the last values of the fields. */
    readonly showsDeleted?: boolean;
  },
): FunctionBody => {
  const write = (row: 'OLD' | 'NEW', what: string, changes: string): string =>
    `PERFORM write_audit(${what}, '${type}', ${row}.uuid, ${name.replaceAll('$', row)}, ${changes});`;
  const hidden = (when: (column: string) => string): string =>
    Object.entries(secrets)
      .map(([field, column]) => ` || ${secret(field, when(column))}`)
      .join('');
  const inserted = `audit_changes('{}', ${shown('NEW', fields)})${hidden((column) => `NEW.${column} IS NOT NULL`)}`;
  const changed = hidden((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`);
  const updated = `audit_changes(${shown('OLD', fields)}, ${shown('NEW', fields)})${changed}`;
  const nothing = `jsonb_build_object(${Object.keys(fields)
    .map((field) => `'${field}', NULL`)
    .join(', ')})`;
  const deleted = showsDeleted ? `audit_changes(${shown('OLD', fields)}, ${nothing})` : `'{}'`;
  return {
    body: `CASE TG_OP
      WHEN 'INSERT' THEN ${write('NEW', `'${type}.create'`, inserted)}
      WHEN 'UPDATE' THEN ${write('NEW', action, updated)}
      ELSE ${write('OLD', `'${type}.delete'`, deleted)}
    END CASE;`,
  };
};
