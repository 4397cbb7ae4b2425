import { BATCH } from '../../pkg/content/batch/batch-task.ts';
import { EXPORT } from '../../pkg/content/exports/export-task.ts';
import { COPY_FOLDER } from '../../pkg/content/folders/copy-folder-task.ts';
import { IMPORT } from '../../pkg/content/imports/import-task.ts';
import { EMPTY_OWN_TRASH } from '../../pkg/content/trash/trash-task.ts';
import { OPTIMIZE, TRANSLATE } from '../../pkg/helper-services/pdf/pdf-tasks.ts';
import type { TaskKind } from '../../pkg/tasks/task-kind.ts';

/** The kinds of people's jobs whose failed items can be retried: by POST /jobs/{id}/retry, and by `carrel jobs retry`. */
export const RETRYABLE_TASKS: readonly TaskKind[] = [EMPTY_OWN_TRASH, COPY_FOLDER, BATCH, IMPORT, EXPORT, OPTIMIZE, TRANSLATE];
