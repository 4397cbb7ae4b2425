import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import { taskKind } from '../../tasks/task-kind.ts';
import { TaskSubject } from '../../tasks/tasks.schema.ts';
import { AS, QUALITIES } from '../helper-services.schema.ts';

/** A stalled helper holds a slot for minutes, so these jobs have slots of their own. */
export const HELPER_QUEUE = 'helpers';

/** Values that the server knows and the worker does not. */
const OF_FILES = {
  file: z.uuid(),
  subject: TaskSubject.optional(),
  as: z.enum(AS),
  /** The permissions of the requester's session; the job may do no more. */
  permissions: z.array(z.custom<Permission>()),
  maxBytes: z.number(),
};

/** Makes a PDF smaller. */
export const OPTIMIZE = taskKind({
  name: 'optimize',
  queue: HELPER_QUEUE,
  resultOfRetry: () => null,
  arguments: z.object({ ...OF_FILES, quality: z.enum(QUALITIES), force: z.boolean() }),
});

/** Translates a PDF. */
export const TRANSLATE = taskKind({
  name: 'translate',
  queue: HELPER_QUEUE,
  resultOfRetry: () => null,
  arguments: z.object({ ...OF_FILES, target: z.string(), source: z.string() }),
});

export type OptimizeArguments = z.output<(typeof OPTIMIZE)['arguments']>;
export type TranslateArguments = z.output<(typeof TRANSLATE)['arguments']>;
export type PdfArguments = OptimizeArguments | TranslateArguments;
