import { people } from './0001-people.ts';
import { files } from './0002-files.ts';
import { shares } from './0003-shares.ts';
import { lti } from './0004-lti.ts';
import { webhooks } from './0005-webhooks.ts';
import { launchPresentation } from './0006-launch-presentation.ts';
import { grades } from './0007-grades.ts';
import { webhookDescriptions } from './0008-webhook-descriptions.ts';
import { toolKeys } from './0009-tool-keys.ts';
import { ltiSaid } from './0010-lti-said.ts';
import { webhookBounds } from './0011-webhook-bounds.ts';
import { retention } from './0012-retention.ts';
import { whoSomebodyIs } from './0013-who-somebody-is.ts';
import { grantsThrough } from './0014-grants-through.ts';
import { storageReservations } from './0018-storage-reservations.ts';
import { countStorage } from './0020-count-storage.ts';
import { storeFiles } from './0021-store-files.ts';
import { managedGroups } from './0031-groups.ts';
import { sessionsAndResets } from './0032-sessions-and-resets.ts';
import { tagsAndMetadata } from './0033-tags-and-metadata.ts';
import { folderMoves } from './0034-folder-moves.ts';
import { guestsInOrder } from './0035-guests-in-order.ts';
import { folderTrash } from './0036-folder-trash.ts';
import { trashExpiry } from './0037-trash-expiry.ts';
import { shareLists } from './0038-share-lists.ts';
import { tasks } from './0039-tasks.ts';
import { filesWithVersions } from './0041-files-with-versions.ts';
import { purgeByIndex } from './0042-purge-by-index.ts';
import { partialUploads } from './0044-partial-uploads.ts';
import { audit } from './0045-audit.ts';
import { objectsByKey } from './0046-objects-by-key.ts';
import { encryptedObjects } from './0047-encrypted-objects.ts';
import { auditOfLti } from './0048-audit-of-lti.ts';
import { requestsOfLaunches } from './0049-requests-of-launches.ts';
import { sharedFunctions } from './0050-shared-functions.ts';
import { entries } from './0060-entries.ts';
import type { TenantMigration } from './migration.ts';
import { auditOfSystem } from './0073-audit-of-system.ts';
import { keysInNfc } from './0080-keys-in-nfc.ts';
import { namesInOrder } from './0081-names-in-order.ts';
import { countRows } from './0082-count-rows.ts';
import { recountBeyondLimits } from './0083-recount-beyond-limits.ts';
import { skippedItems } from './0120-skipped-items.ts';
import { schedules } from './0130-schedules.ts';
import { keptExports } from './0131-kept-exports.ts';
import { missedRuns } from './0132-missed-runs.ts';
import { imports } from './0140-imports.ts';
import { contentCrcs } from './0150-content-crcs.ts';
import { exportedArchives } from './0151-exports.ts';
import { exportUploads } from './0152-export-uploads.ts';
import { helpers } from './0160-helpers.ts';
import { ltiContexts } from './0200-lti-contexts.ts';
import { lineItems } from './0201-line-items.ts';
import { scoresOfLineItems } from './0202-scores-of-line-items.ts';
import { members } from './0203-members.ts';
import { orderOfGrades } from './0204-order-of-grades.ts';
import { answersToPickers } from './0207-answers-to-pickers.ts';
import { linkKeys } from './0210-link-keys.ts';
import { resourceLinks } from './0211-resource-links.ts';
import { notices } from './0212-notices.ts';
import { handIns } from './0213-hand-ins.ts';
import { registrationLinks } from './0215-registration-links.ts';
import { auditOfCourses } from './0220-audit-of-courses.ts';
import { platformOfHandIns } from './0221-platform-of-hand-ins.ts';
import { imageLinks } from './0222-image-links.ts';
import { deploymentRequests } from './0230-deployment-requests.ts';
import { lmsByKeySet } from './0260-lms-by-key-set.ts';
import { listedDeployments } from './0261-listed-deployments.ts';
import { lineItemChanges } from './0263-line-item-changes.ts';

export const tenantMigrations: readonly TenantMigration[] = [
  people,
  files,
  shares,
  lti,
  webhooks,
  launchPresentation,
  grades,
  webhookDescriptions,
  toolKeys,
  ltiSaid,
  webhookBounds,
  retention,
  whoSomebodyIs,
  grantsThrough,
  storageReservations,
  countStorage,
  storeFiles,
  managedGroups,
  sessionsAndResets,
  tagsAndMetadata,
  folderMoves,
  guestsInOrder,
  folderTrash,
  trashExpiry,
  shareLists,
  tasks,
  filesWithVersions,
  purgeByIndex,
  partialUploads,
  audit,
  objectsByKey,
  encryptedObjects,
  auditOfLti,
  requestsOfLaunches,
  sharedFunctions,
  entries,
  auditOfSystem,
  keysInNfc,
  namesInOrder,
  countRows,
  recountBeyondLimits,
  skippedItems,
  schedules,
  imports,
  contentCrcs,
  exportedArchives,
  keptExports,
  missedRuns,
  exportUploads,
  helpers,
  ltiContexts,
  lineItems,
  scoresOfLineItems,
  members,
  orderOfGrades,
  answersToPickers,
  linkKeys,
  resourceLinks,
  notices,
  handIns,
  registrationLinks,
  auditOfCourses,
  platformOfHandIns,
  imageLinks,
  deploymentRequests,
  lmsByKeySet,
  listedDeployments,
  lineItemChanges,
];
