import { etagOf } from '../../api/etag.ts';
import type { MetadataEntry, ValueType } from './metadata.schema.ts';

/** Times are strings if the row was read as JSON. */
export interface MetadataRow {
  readonly key: string;
  readonly value: string | null;
  readonly type: ValueType;
  readonly revision: number;
  readonly createdAt: Date | string;
  readonly updatedAt: Date | string;
}

/** A recreated entry starts at revision 1 again, so its etag also includes the creation time. */
export const metadataEtag = ({ key, revision, createdAt }: MetadataRow, fileUuid: string): string =>
  etagOf('metadata', `${fileUuid}/${key}`, `${revision}/${new Date(createdAt).getTime()}`);

export const presentMetadata = (entry: MetadataRow, fileUuid: string): MetadataEntry => ({
  key: entry.key,
  value: valueOf(entry),
  value_type: entry.type,
  created_at: new Date(entry.createdAt).toISOString(),
  updated_at: new Date(entry.updatedAt).toISOString(),
  etag: metadataEtag(entry, fileUuid),
});

/** Text is shown unchanged, everything else as JSON. A value that is not JSON (not written by the API) is shown as text. */
function valueOf({ value, type }: MetadataRow): unknown {
  if (value === null || type === 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
