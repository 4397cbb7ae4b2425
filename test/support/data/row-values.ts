/**
 * Rows for every table of a tenant's schema, of a shard's schema `carrel` and of the registry, in the order of their foreign
 * keys, with a value in every column. The tests of the migrations fail where a table or a column is left out: whoever adds one
 * adds its values here. Ids are those that an empty schema gives; user 1 is the system's.
 */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
export const LATER = '2099-01-01T00:00:00Z';
export const EARLIER = '2025-01-01T00:00:00Z';
