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

/** Reports issuers and client ids that an LMS sent instead of the registered ones (noted by pkg/lti/login/unknown-values.ts). */
export const reportUnknownValues = (deps: NotesDeps): ShardChanges<ValueNote> =>
  reportNotes(deps, unknownValues, {
    isCurrent: ({ field, value }, registration) => FIELDS[field].registered(registration) !== value,
    event: ({ field, value }, registration) => {
      const { reason, what, path, registered } = FIELDS[field];
      return {
        reason,
        message: `launches were refused: the LMS sent as ${what} ${quoted(value)}; ${path} is ${quoted(registered(registration) ?? '')}. They must be equal to the letter: correct one of them`,
      };
    },
  });
