import { z } from 'zod';
import { text, Uuid } from '../../api/schemas.ts';
import { validate } from '../../api/validation.ts';
import { FALLBACK_ENCODING, isEncoding } from './entry-name.ts';

export const IMPORT_CONFLICTS = ['fail', 'rename', 'replace', 'skip'] as const;

const OPTIONS = {
  folder_id: Uuid.nullable().optional().describe('the folder to import into; null or left out: the caller’s root'),
  on_conflict: z
    .enum(IMPORT_CONFLICTS)
    .default('fail')
    .describe(
      'if the name of a file is taken: its entry fails, it gets another name, it becomes the next version, or its ' +
        'entry is skipped',
    ),
  encoding: text(1, 40)
    .refine(isEncoding, "must be cp437 or a label of the WHATWG's Encoding Standard")
    .default(FALLBACK_ENCODING)
    .meta({ description: 'of names that are not UTF-8: cp437, or a label of the Encoding Standard', example: 'shift_jis' }),
};

export const ImportRequest = z.strictObject({ file_id: Uuid.describe('the archive'), ...OPTIONS }).meta({ id: 'ImportRequest' });
export type ImportRequest = z.output<typeof ImportRequest>;

const ImportFields = z.strictObject({ ...OPTIONS, folder_id: Uuid.optional() });
export type ImportOptions = Omit<ImportRequest, 'file_id'>;

export const IMPORT_FIELDS = ['folder_id', 'on_conflict', 'encoding'] as const;

/** Parses the text fields of the form; an empty one counts as absent. Throws `validation_failed` with the wrong ones. */
export const importFields = (fields: ReadonlyMap<string, string>): ImportOptions =>
  validate(ImportFields, Object.fromEntries([...fields].filter(([, value]) => value !== '')));

/** For the OpenAPI document; uploads/multipart.ts reads the form itself. */
export const ImportForm = z.object({
  file: z.string().meta({ format: 'binary', example: 'PK' }),
  folder_id: Uuid.optional(),
  on_conflict: z.enum(IMPORT_CONFLICTS).optional(),
  encoding: OPTIONS.encoding.optional(),
});
