import type { Sql } from '../../store/postgres/pool.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import { addItems } from '../batch/batch.sql.ts';
import type { ExportArguments } from './export-task.ts';
import { queuedItems } from './exports.sql.ts';

/** A file whose content cannot be in the archive. */
export interface GoneFile {
  readonly uuid: string;
  readonly name: string;
  /**
   * `deleted`: deleted for ever before its turn; `replaced`: the file exists, with another content; `lost`: the file exists,
   * but the store does not have all of its content.
   */
  readonly why: 'deleted' | 'replaced' | 'lost';
}

export const GONE = { code: 'not_found', message: 'It no longer exists, or you may not read it.' } as const;
export const LOST = {
  code: 'not_found',
  message:
    'Its content is missing from the storage, or is incomplete. Upload it again, restore another version, or ask ' +
    'whoever runs the platform for a backup.',
} as const;
const REPLACED = {
  code: 'conflict',
  message:
    'It got a new version while the archive was made, and the one that was to be exported is deleted. Retry the job ' +
    'to export the new one.',
} as const;

const REASONS = { deleted: GONE, replaced: REPLACED, lost: LOST };

/** Adds the files to the items of the task, as failed ones. */
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
    return file ? [{ id, ...REASONS[file.why] }] : [];
  });
  await task.end(ends);
}
