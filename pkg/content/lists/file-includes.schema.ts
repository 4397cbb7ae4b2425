import { z } from 'zod';
import { eachOncePattern } from '../../api/schemas.ts';
import { GrantView } from '../model/access/grants.schema.ts';
import { MetadataEntry } from '../metadata/metadata.schema.ts';
import { TagView } from '../tags/tags.schema.ts';

/** The fields that `include` adds to a file's metadata. */
export const INCLUDES = ['tags', 'metadata', 'versions_count', 'permissions'] as const;
export type Include = (typeof INCLUDES)[number];

const WORDS = `takes ${INCLUDES.join(', ')}, comma-separated and each once`;
/** Characters of a wrong value that are shown. */
const SHOWN_MAX = 40;

/** `tags,versions_count`. A value that is unknown or repeated is a 400 that names it. */
export const IncludeList = z
  .string()
  .check((payload) => {
    const fault = faultOf(payload.value.split(','));
    if (fault !== undefined) payload.issues.push({ code: 'custom', input: payload.value, message: `${fault}; ${WORDS}` });
  })
  .meta({ pattern: `^${eachOncePattern(INCLUDES)}$`, example: 'tags,versions_count' })
  .transform((text) => text.split(',') as readonly Include[]);

function faultOf(values: readonly string[]): string | undefined {
  const unknown = values.find((value) => !INCLUDES.includes(value as Include));
  if (unknown !== undefined) return `does not know ${shown(unknown)}`;
  const repeated = values.find((value, at) => values.indexOf(value) < at);
  return repeated === undefined ? undefined : `names ${shown(repeated)} twice`;
}

const shown = (value: string): string =>
  JSON.stringify(Array.from(value).length > SHOWN_MAX ? `${Array.from(value).slice(0, SHOWN_MAX).join('')}…` : value);

/** The most tags, metadata entries and grants of one file that are included; its own addresses list all. */
export const INCLUDED_MAX = 100;

/** The fields of a file that `include` names; the others are left out. */
export const IncludedFields = z
  .object({
    tags: z.array(TagView).describe(`with include=tags: the caller's own tags on the file, by name, at most ${INCLUDED_MAX}`),
    metadata: z.array(MetadataEntry).describe(`with include=metadata: by key, at most ${INCLUDED_MAX}`),
    versions_count: z.int().min(0).meta({ description: 'with include=versions_count', example: 1 }),
    permissions: z
      .array(GrantView)
      .nullable()
      .describe(
        `with include=permissions: the first ${INCLUDED_MAX} of GET /files/{id}/permissions; null where that shows ` +
          `the caller none: without the level admin or the permission \`share:files\`, and in the trash`,
      ),
  })
  .partial();
export type IncludedFields = z.output<typeof IncludedFields>;
