import { z } from 'zod';
import { logLevel, wholeNumber } from '../../pkg/runtime/config.ts';
import { trustedCertificatesFile } from '../../pkg/runtime/trusted-certificates.ts';

const PROVIDERS = ['google', 'azure', 'deepl', 'libretranslate', 'apertium', 'dictionary'] as const;
export type ProviderName = (typeof PROVIDERS)[number];
const isProvider = (name: string): name is ProviderName => PROVIDERS.some((each) => each === name);

const PDF_PROGRAMS = ['qpdf', 'gs'] as const;
type PdfProgram = (typeof PDF_PROGRAMS)[number];
const isPdfProgram = (name: string): name is PdfProgram => PDF_PROGRAMS.some((each) => each === name);

const commaSeparated = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
const address = () => z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const key = () => z.string().min(1).optional();

/** The settings of the helpers, by the names of their environment variables. */
export const helpersConfigSchema = z.object({
  CARREL_HELPERS_TOKEN: z
    .string()
    .default('')
    .transform(commaSeparated)
    .describe('the bearer tokens that requests may carry, comma-separated; default: requests need none'),
  CARREL_HELPERS_PROVIDERS: z
    .string()
    .default(PROVIDERS.join(','))
    .transform(commaSeparated)
    .refine((names) => names.length > 0 && names.every(isProvider), `must be some of ${PROVIDERS.join(', ')}`)
    .transform((names) => names.filter(isProvider))
    .describe(
      `translators in the order in which they are tried, some of ${PROVIDERS.join(', ')}; ` +
        'those without key, address or program are left out',
    ),
  CARREL_GOOGLE_TRANSLATE_KEY: key().describe('an API key of Google Cloud Translation'),
  CARREL_GOOGLE_TRANSLATE_URL: address()
    .default('https://translation.googleapis.com')
    .describe('the address of Google Cloud Translation'),
  CARREL_AZURE_TRANSLATOR_KEY: key().describe('a key of Azure Translator'),
  CARREL_AZURE_TRANSLATOR_REGION: key().describe('the region of that key, unless it is global'),
  CARREL_AZURE_TRANSLATOR_URL: address()
    .default('https://api.cognitive.microsofttranslator.com')
    .describe('the address of Azure Translator'),
  CARREL_DEEPL_KEY: key().describe('an API key of DeepL'),
  CARREL_DEEPL_URL: address().optional().describe('the address of DeepL; default: the address of the key’s plan'),
  CARREL_LIBRETRANSLATE_URL: address().optional().describe('the address of a LibreTranslate'),
  CARREL_LIBRETRANSLATE_KEY: key().describe('its API key, if it requires one'),
  CARREL_HELPERS_CONCURRENCY: wholeNumber(1, 256)
    .default(16)
    .describe('translations of text at once, 1 to 256; four times as many wait'),
  CARREL_HELPERS_TIMEOUT_SECONDS: wholeNumber(1, 600).default(55).describe('seconds until a reply must begin, 1 to 600'),
  CARREL_HELPERS_PDF_PROGRAMS: z
    .string()
    .default(PDF_PROGRAMS.join(','))
    .transform(commaSeparated)
    .refine((names) => names.every(isPdfProgram), `must be some of ${PDF_PROGRAMS.join(', ')}, or empty`)
    .transform((names) => names.filter(isPdfProgram))
    .describe(
      `programs that optimise PDFs beside the library where they are installed, of ${PDF_PROGRAMS.join(', ')}; may be empty`,
    ),
  CARREL_HELPERS_PDF_CONCURRENCY: wholeNumber(1, 64).default(2).describe('PDFs at once, 1 to 64; four times as many wait'),
  CARREL_HELPERS_PDF_MAX_MIB: wholeNumber(1, 4096).default(200).describe('MiB that a PDF may have, 1 to 4096'),
  CARREL_HELPERS_PDF_MAX_PAGES: wholeNumber(1, 100_000).default(2_000).describe('pages that a PDF may have, 1 to 100000'),
  CARREL_HELPERS_PDF_MEMORY_MIB: wholeNumber(128, 65_536)
    .default(1024)
    .describe('MiB of memory that a conversion may take, 128 to 65536'),
  CARREL_HELPERS_PORT: wholeNumber(0, 65_535).default(8080).describe('the port of the helpers, 8080'),
  CARREL_LISTEN_HOST: z.string().min(1).optional().describe('the address to listen on; default: all'),
  CARREL_OPS_PORT: wholeNumber(0, 65_535).default(9090).describe('a port for probes and metrics, 9090'),
  ...trustedCertificatesFile,
  CARREL_LOG_LEVEL: logLevel,
});

export type HelpersConfig = z.output<typeof helpersConfigSchema>;
