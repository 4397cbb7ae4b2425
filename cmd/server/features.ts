import { accountsFeature } from '../../pkg/accounts/accounts.ts';
import { contentFeature } from '../../pkg/content/content.ts';
import { metadata } from '../../pkg/content/metadata/metadata.ts';
import { tags } from '../../pkg/content/tags/tags.ts';
import { usage } from '../../pkg/content/usage/usage.ts';
import type { Feature } from '../../pkg/feature/feature.ts';
import { groups } from '../../pkg/groups/groups.ts';
import { lti } from '../../pkg/lti/lti.ts';
import { webhooks } from '../../pkg/webhooks/webhooks.ts';

/** What a tenant's server does. A new feature is one line here (docs/architecture.md, "Add a feature"). A deleted user's tags are copied while the files are still theirs. */
export const FEATURES: readonly Feature[] = [accountsFeature(), tags, contentFeature(), metadata, usage, groups, webhooks, lti];
