import { UNFINISHED_TASKS_MAX } from '../../../pkg/tasks/task-requests.ts';
import { pdf } from '../fakes/helpers/pdf.ts';
import { range } from '../wait.ts';
import { byBob, type Cases, type Make, of, type Request } from './case.ts';
import { made, type World } from './world.ts';

const text = (w: World): Request => ({ body: { text: w.name(), target_language: 'es' } });

/** A PDF of somebody's, where the tenant has helpers. */
const pdfOf =
  (body: object, options: Parameters<typeof pdf>[0] = {}): Make =>
  async (w) => {
    await w.helpers();
    return { ...of(await w.pdf(pdf(options))), body };
  };

const conversion = (path: string, body: object): Cases => ({
  success: pdfOf(body),
  errors: {
    forbidden: async (w) => {
      await w.helpers();
      return byBob(w, { ...of(await w.shared('file')), body: { ...body, as: 'version' } });
    },
    conflict: async (w) => {
      await w.helpers();
      const { api } = await w.person();
      const { id } = await w.pdf(pdf(), api);
      for (const _ of range(UNFINISHED_TASKS_MAX)) await made(api.post(`/files/${id}/${path}`, body));
      return { by: api, params: { id }, body };
    },
    unsupported_media_type: async (w) => {
      await w.helpers();
      return { ...of(await w.file()), body };
    },
    pdf_signed: pdfOf({ ...body, as: 'version' }, { isSigned: true }),
    pdf_encrypted: pdfOf(body, { isEncrypted: true }),
    helper_not_configured: async (w) => {
      await w.helpers('none');
      return { ...of(await w.pdf(pdf())), body };
    },
  },
});

/** Helper services. */
export const HELPER_CASES: Readonly<Record<string, Cases>> = {
  listHelpers: {
    success: async (w) => {
      await w.helpers();
      return {};
    },
    stranger: 'same',
  },
  translateText: {
    success: async (w) => {
      await w.helpers();
      return text(w);
    },
    stranger: 'same',
    errors: {
      helper_not_configured: async (w) => {
        await w.helpers('none');
        return text(w);
      },
      helper_unavailable: async (w) => {
        await w.helpers('refuses');
        return text(w);
      },
      helper_rejected: async (w) => {
        await w.helpers('redirects');
        return text(w);
      },
    },
  },
  optimizeFile: conversion('optimize', {}),
  translateFile: conversion('translate', { target_language: 'es' }),
};
