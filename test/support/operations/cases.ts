import { ACCOUNT_CASES } from './accounts-cases.ts';
import type { Cases } from './case.ts';
import { CONTENT_CASES } from './content-cases.ts';
import { HELPER_CASES } from './helper-cases.ts';
import { LTI_CASES } from './lti-cases.ts';
import { LINK_UPLOAD_CASES } from './link-upload-cases.ts';
import { RESUMABLE_UPLOAD_CASES } from './resumable-upload-cases.ts';
import { SCHEDULE_CASES } from './schedule-cases.ts';
import { SHARING_CASES } from './sharing-cases.ts';
import { WEBHOOK_CASES } from './webhook-cases.ts';

/** The cases by `operationId`. */
export const CASES: Readonly<Record<string, Cases>> = {
  ...ACCOUNT_CASES,
  ...CONTENT_CASES,
  ...LINK_UPLOAD_CASES,
  ...RESUMABLE_UPLOAD_CASES,
  ...SHARING_CASES,
  ...WEBHOOK_CASES,
  ...SCHEDULE_CASES,
  ...LTI_CASES,
  ...HELPER_CASES,
  getOpenApiDocument: { success: (w) => ({ by: w.tenant.anonymous }), stranger: 'same' },
  getReferencePage: { success: (w) => ({ by: w.tenant.anonymous }), stranger: 'same' },
};
