import { accountsFeature } from '../../pkg/accounts/accounts.ts';
import { audit } from '../../pkg/audit/audit.ts';
import { BATCH } from '../../pkg/content/batch/batch-task.ts';
import { contentFeature } from '../../pkg/content/content.ts';
import { EXPORT } from '../../pkg/content/exports/export-task.ts';
import { COPY_FOLDER } from '../../pkg/content/folders/copy-folder-task.ts';
import { IMPORT } from '../../pkg/content/imports/import-task.ts';
import { metadata } from '../../pkg/content/metadata/metadata.ts';
import { tags } from '../../pkg/content/tags/tags.ts';
import { EMPTY_OWN_TRASH } from '../../pkg/content/trash/trash-task.ts';
import { usage } from '../../pkg/content/usage/usage.ts';
import type { Feature } from '../../pkg/feature/feature.ts';
import { groups } from '../../pkg/groups/groups.ts';
import { helperServicesFeature } from '../../pkg/helper-services/helper-services.ts';
import { OPTIMIZE, TRANSLATE } from '../../pkg/helper-services/pdf/pdf-tasks.ts';
import { lti } from '../../pkg/lti/lti.ts';
import { schedules } from '../../pkg/schedules/schedules.ts';
import { tasksFeature } from '../../pkg/tasks/tasks.ts';
import { webhooks } from '../../pkg/webhooks/webhooks.ts';

/** What a tenant's server does. A new feature is one line here (docs/architecture.md, "Add a feature"). A deleted user's tasks go before their content, and tags are copied while the files are still theirs. */
export const FEATURES: readonly Feature[] = [
  accountsFeature(),
  tasksFeature([EMPTY_OWN_TRASH, COPY_FOLDER, BATCH, IMPORT, EXPORT, OPTIMIZE, TRANSLATE]),
  tags,
  contentFeature(),
  metadata,
  usage,
  groups,
  audit,
  webhooks,
  schedules,
  helperServicesFeature(),
  lti,
];
