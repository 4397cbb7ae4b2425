import { unknownValues, type ValueNote } from '../../lti/registrations/notes.sql.ts';
import type { LtiRegistration } from '../kinds.ts';
import type { ShardChanges } from '../shard-changes.ts';
import { quoted, reportNotes, type NotesDeps } from './notes.ts';

const FIELDS = {
  iss: {
    reason: 'UnknownIssuer',
    what: 'its issuer (iss)',
    path: 'spec.platform.issuer',
    registered: ({ spec }: LtiRegistration): string | undefined => spec.platform.issuer,
  },
  client_id: {
    reason: 'UnknownClientId',
    what: 'the client id (client_id, aud or azp)',
    path: 'spec.clientId',
    registered: ({ spec }: LtiRegistration): string | undefined => spec.clientId,
  },
} as const;

/**
 * Reports deployments of logins from one of several LMSs that share an issuer and client id, if none or more than one
 * registration lists the deployment (noted by pkg/lti/login/login.service.ts).
 */
const undecided = (value: string) => ({
  reason: 'UndecidedDeployment',
  message:
    'logins were refused: several registrations have this issuer and clientId, and not exactly one of them lists ' +
    `their deployment; keep it only in spec.deploymentIds of the right one: ${quoted(value)}`,
});

/** Reports issuers and client ids that an LMS sent instead of the registered ones (noted by pkg/lti/login/unknown-values.ts). */
export const reportUnknownValues = (deps: NotesDeps): ShardChanges<ValueNote> =>
  reportNotes(deps, unknownValues, {
    isCurrent: ({ field, value }, registration) =>
      field === 'lti_deployment_id' || FIELDS[field].registered(registration) !== value,
    event: ({ field, value }, registration) => {
      if (field === 'lti_deployment_id') return undecided(value);
      const { reason, what, path, registered } = FIELDS[field];
      return {
        reason,
        message:
          `launches were refused: the LMS sent as ${what} ${quoted(value)}; ${path} is ` +
          `${quoted(registered(registration) ?? '')}. They must be identical: correct one of them`,
      };
    },
  });
