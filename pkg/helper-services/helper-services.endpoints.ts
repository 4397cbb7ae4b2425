import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import { TaskView } from '../tasks/tasks.schema.ts';
import type { HelperStates } from './helper-states.service.ts';
import {
  FileTranslationRequest,
  HelpersView,
  OptimizationRequest,
  TranslationRequest,
  TranslationView,
} from './helper-services.schema.ts';
import type { PdfRequests } from './pdf/pdf-requests.service.ts';
import type { Translations } from './text/translations.service.ts';

const params = z.object({ id: Uuid });
const HELPERS = { tag: 'helpers' } as const;
const OF_FILES = {
  ...HELPERS,
  method: 'post',
  caller: { permission: 'write:files' },
  params,
  replies: { 202: TaskView },
  errors: [
    'not_found',
    'forbidden',
    'conflict',
    'unsupported_media_type',
    'pdf_signed',
    'pdf_encrypted',
    'helper_not_configured',
  ],
  idempotent: true,
} as const;

export const helperEndpoints = (deps: { states: HelperStates; translations: Translations; pdfs: PdfRequests }): Endpoint[] => [
  endpoint({
    ...HELPERS,
    method: 'get',
    path: '/helpers',
    operationId: 'listHelpers',
    summary: 'Show the configured helper services, whether they answer, and which languages they know',
    caller: 'user',
    replies: { 200: HelpersView },
    handle: async () => reply(200, await deps.states.all()),
  }),
  endpoint({
    ...HELPERS,
    method: 'post',
    path: '/translate',
    operationId: 'translateText',
    summary: 'Translate a text with the translator of the institution; a repetition within 5 minutes gets the cached reply',
    caller: 'user',
    body: TranslationRequest,
    replies: { 200: TranslationView },
    errors: ['helper_not_configured', 'helper_unavailable', 'helper_rejected'],
    handle: async ({ body, request }) => reply(200, await deps.translations.translate(body, request.signal)),
  }),
  endpoint({
    ...OF_FILES,
    path: '/files/{id}/optimize',
    operationId: 'optimizeFile',
    summary:
      'Make a PDF smaller, as a job: its next version, or a copy; ' +
      'a result that is not at least 5 % and 4 KiB smaller is discarded',
    body: OptimizationRequest,
    handle: async ({ actor, params: { id }, body }) => reply(202, await deps.pdfs.optimize(actor, id, body)),
  }),
  endpoint({
    ...OF_FILES,
    path: '/files/{id}/translate',
    operationId: 'translateFile',
    summary: 'Translate a PDF, as a job: a copy, or its next version',
    body: FileTranslationRequest,
    handle: async ({ actor, params: { id }, body }) => reply(202, await deps.pdfs.translate(actor, id, body)),
  }),
];
