import type { Sql } from '../../store/postgres/pool.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import { addItems } from '../batch/batch.sql.ts';
import type { ExportArguments } from './export-task.ts';
import { queuedItems } from './exports.sql.ts';

/** A file whose content was deleted for ever before its turn. */
export interface GoneFile {
  readonly uuid: string;
  readonly name: string;
  /** The file is there, with another content. */
  readonly isReplaced: boolean;
}

export const GONE = { code: 'not_found', message: 'It is not there any more, or you may not read it.' } as const;
const REPLACED = {
  code: 'conflict',
  message:
    'It got a new version while the archive was made, and the one that was to be exported is deleted. Retry the job to export the new one.',
} as const;

/** They are items of the task, and have failed. */
export async function failGone(tx: Sql, task: HeldTask<ExportArguments>, files: readonly GoneFile[]): Promise<void> {
  if (files.length === 0) return;
  await addItems(
    tx,
    task.id,
    files.map(({ uuid, name }) => ({ type: 'file', id: uuid, name, rank: 0 })),
  );
  const gone = new Map(files.map((file) => [file.uuid, file]));
  const ends = (await queuedItems(tx, task.id)).flatMap(({ id, target }) => {
    const file = gone.get(target);
    return file ? [{ id, ...(file.isReplaced ? REPLACED : GONE) }] : [];
  });
  await task.end(ends);
}
