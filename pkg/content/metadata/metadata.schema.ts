import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Etag, text, Timestamp } from '../../api/schemas.ts';

export const VALUE_TYPES = ['string', 'number', 'boolean', 'json'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** Characters. */
export const KEY_MAX = 100;
/** UTF-8 bytes of a value as it is stored: text itself, else its JSON. */
export const VALUE_MAX_BYTES = 65_536;
/** Entries of a file. */
export const ENTRIES_MAX = 100;
/** Bytes of all values of a file. */
export const VALUES_MAX_BYTES = 262_144;

/** docs/design/records.md, Share, tag, metadata. */
export const MetadataEntry = z
  .object({
    key: z.string().meta({ example: 'course' }),
    value: z.unknown().meta({ description: 'JSON of the type that value_type names, or null', example: 'History 1' }),
    value_type: z.enum(VALUE_TYPES),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'MetadataEntry' });
export type MetadataEntry = z.output<typeof MetadataEntry>;

export const MetadataPage = pageOf(MetadataEntry).meta({ id: 'MetadataPage' });
export const METADATA_SORT_FIELDS = ['key'] as const;
export const MetadataQuery = z.object(pageQueryOf(METADATA_SORT_FIELDS));
export type MetadataQuery = z.output<typeof MetadataQuery>;

/** Characters that a key cannot contain, because it is part of a path and of a parameter's name, `metadata[key]`. */
const REFUSED = String.raw`\u0000-\u001f\u007f-\u009f/\[\]`;
/** Nor is it `.` or `..`, which clients take out of a path. */
const KEY = new RegExp(`^([^.${REFUSED}][^${REFUSED}]*|\\.[^.${REFUSED}][^${REFUSED}]*|\\.\\.[^${REFUSED}]+)$`);

/** In NFC, as all names: two keys that look alike are one. */
export const MetadataKey = text(
  1,
  KEY_MAX,
  z.string().overwrite((key) => key.normalize('NFC')),
)
  .regex(KEY, 'must not hold slashes, brackets or control characters, nor be . or ..')
  .meta({ minLength: 1, maxLength: KEY_MAX, pattern: KEY.source, example: 'course' });

const ANY_JSON = [
  { type: 'string', maxLength: VALUE_MAX_BYTES },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'object' },
  { type: 'array', items: {} },
  { type: 'null' },
];

export const NewMetadata = z
  .object({
    value: z
      .unknown()
      .refine((value) => value !== undefined, 'is required')
      .meta({
        description:
          `JSON of the type; at most ${VALUE_MAX_BYTES} bytes as UTF-8, and ${VALUES_MAX_BYTES} with the other values ` +
          'of the file; integers up to 2^53-1 either way',
        'x-openapi': { anyOf: ANY_JSON },
        example: 'History 1',
      }),
    value_type: z.enum(VALUE_TYPES).optional().meta({ description: 'left out: a string', example: 'string' }),
  })
  .meta({ id: 'NewMetadata' });
export type NewMetadata = z.output<typeof NewMetadata>;
