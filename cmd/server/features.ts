import { accountsFeature } from '../../pkg/accounts/accounts.ts';
import { audit } from '../../pkg/audit/audit.ts';
import { contentFeature } from '../../pkg/content/content.ts';
import { usage } from '../../pkg/content/usage/usage.ts';
import type { Feature } from '../../pkg/feature/feature.ts';
import { groups } from '../../pkg/groups/groups.ts';
import { helperServicesFeature } from '../../pkg/helper-services/helper-services.ts';
import { lti } from '../../pkg/lti/lti.ts';
import { schedules } from '../../pkg/schedules/schedules.ts';
import { settings } from '../../pkg/settings/settings.ts';
import { tasksFeature } from '../../pkg/tasks/tasks.ts';
import { webhooks } from '../../pkg/webhooks/webhooks.ts';
import { welcome } from '../../pkg/welcome/welcome.ts';
import { RETRYABLE_TASKS } from './retryable-tasks.ts';

/**
 * The features of a tenant's server. A new feature is one line here (docs/architecture.md, "Add a feature"). The order matters: a
 * deleted user's tasks go before their content.
 */
export const FEATURES: readonly Feature[] = [
  accountsFeature(),
  tasksFeature(RETRYABLE_TASKS),
  contentFeature(),
  usage,
  groups,
  audit,
  webhooks,
  schedules,
  settings,
  helperServicesFeature(),
  lti,
  welcome,
];
