import type { Parameters } from '../../store/postgres/keyset.ts';
import type { FileFilter } from './file-filter.sql.ts';
import { storedForms } from '../metadata/metadata.policy.ts';

/** Returns the filter for files with this metadata. The index finds all of them by the hash of the value. */
export function filesWith(key: string, value: string, params: Parameters): FileFilter {
  const { text, number } = storedForms(value);
  const entriesOfKey = `file_metadata m WHERE m.key = ${params.add(key)}`;
  const asText = `${params.add(text)}::text`;
  const byHash = (form: string): string =>
    `SELECT m.file_id FROM ${entriesOfKey} AND md5(m.value) = md5(${form}) AND m.value = ${form}`;
  if (number === undefined)
    return { files: byHash(asText), has: `EXISTS (SELECT FROM ${entriesOfKey} AND m.file_id = f.id AND m.value = ${asText})` };
  const asNumber = `${params.add(number)}::text`;
  return {
    files: `${byHash(asText)} UNION ALL ${byHash(asNumber)} AND m.value_type = 'number'`,
    has: `
      EXISTS (SELECT FROM ${entriesOfKey} AND m.file_id = f.id
        AND (m.value = ${asText} OR m.value_type = 'number' AND m.value = ${asNumber}))`,
  };
}
