import { z } from 'zod';
import { text } from '../api/schemas.ts';
import { canonicalTag } from '../runtime/language-tags.ts';

const TAG_MAX = 64;
/** Letters, digits and hyphens; `canonicalTag` checks the rest. */
const TAG_PATTERN = /^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$/;

/** A language tag of BCP 47 in any case; converted to its canonical form. */
const LanguageTag = z
  .string()
  .max(TAG_MAX)
  .regex(TAG_PATTERN, 'is not a language tag: send one of BCP 47, such as en, es or pt-BR')
  .refine((tag) => canonicalTag(tag) !== null, 'is not a language tag: send one of BCP 47, such as en, es or pt-BR')
  .overwrite((tag) => canonicalTag(tag) ?? tag)
  .meta({
    description: 'BCP 47, any case; the helper is asked for the nearest language that it knows (RFC 4647, lookup)',
    example: 'es',
  });

/** `auto`: the helper detects it. */
const SourceLanguage = z
  .union([z.literal('auto'), LanguageTag])
  .default('auto')
  .meta({ description: 'BCP 47; auto: the helper detects it', example: 'auto' });

export const TEXT_MAX_CHARACTERS = 50_000;

export const TranslationRequest = z
  .strictObject({
    text: text(1, TEXT_MAX_CHARACTERS).meta({ example: 'The teacher reads a book.' }),
    target_language: LanguageTag,
    source_language: SourceLanguage,
  })
  .meta({ id: 'TranslationRequest' });
export type TranslationRequest = z.output<typeof TranslationRequest>;

export const TranslationView = z
  .object({
    text: z.string().meta({ example: 'El profesor lee un libro.' }),
    source_language: z
      .string()
      .nullable()
      .meta({ description: 'as requested or detected; null: the helper does not report it', example: 'en' }),
    target_language: z.string().meta({ example: 'es' }),
    provider: z
      .string()
      .nullable()
      .meta({ description: 'the translation service, if the helper names it; otherwise null', example: 'deepl' }),
  })
  .meta({ id: 'Translation' });
export type TranslationView = z.output<typeof TranslationView>;

export const AS = ['version', 'copy'] as const;
const asField = (by: (typeof AS)[number]) =>
  z
    .enum(AS)
    .default(by)
    .describe(
      'version: the next version of the file, for those who may write it; ' +
        'copy: a file of the caller’s own, beside it or in their root',
    );

export const QUALITIES = ['low', 'medium', 'high'] as const;
export const OptimizationRequest = z
  .strictObject({
    quality: z.enum(QUALITIES).default('medium').describe('quality of images; low makes the smallest file'),
    as: asField('version'),
    force: z.boolean().default(false).describe('true: also convert a signed PDF; the signatures of the result are invalid'),
  })
  .meta({ id: 'OptimizationRequest' });
export type OptimizationRequest = z.output<typeof OptimizationRequest>;

export const FileTranslationRequest = z
  .strictObject({ target_language: LanguageTag, source_language: SourceLanguage, as: asField('copy') })
  .meta({ id: 'FileTranslationRequest' });
export type FileTranslationRequest = z.output<typeof FileTranslationRequest>;

const HelperState = z
  .object({
    configured: z.boolean().describe('the Tenant resource names it'),
    available: z.boolean().describe('it answers, as of the last minute'),
    languages: z
      .array(z.string())
      .optional()
      .meta({ description: 'the languages that it translates into, if it lists them', example: ['en', 'es'] }),
  })
  .meta({ id: 'HelperState' });
export type HelperState = z.output<typeof HelperState>;

export const HelpersView = z
  .object({ translate: HelperState, pdf_optimize: HelperState, pdf_translate: HelperState })
  .meta({ id: 'Helpers' });
export type HelpersView = z.output<typeof HelpersView>;
