import { unknownDeployments, type DeploymentNote } from '../../lti/registrations/notes.sql.ts';
import type { ShardChanges } from '../shard-changes.ts';
import { quoted, reportNotes, type NotesDeps } from './notes.ts';

/**
 * Reports deployments that launched and that their LtiRegistration does not list (noted by
 * pkg/lti/launch/unknown-deployments.sql.ts).
 */
export const reportUnknownDeployments = (deps: NotesDeps): ShardChanges<DeploymentNote> =>
  reportNotes(deps, unknownDeployments, {
    isCurrent: ({ deploymentId }, { spec }) => !spec.deploymentIds?.includes(deploymentId),
    event: ({ deploymentId }, { spec }) =>
      spec.deploymentPolicy === 'Confirm'
        ? {
            reason: 'DeploymentWaiting',
            message:
              'an administrator has to admit a deployment that launched, by REST or by adding to ' +
              `spec.deploymentIds: ${quoted(deploymentId)}`,
          }
        : {
            reason: 'UnknownDeployment',
            message:
              'launches were refused: their deployment is not listed; to admit it, add to spec.deploymentIds: ' +
              quoted(deploymentId),
          },
  });
