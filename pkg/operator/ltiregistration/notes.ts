import type { EventRecorder } from '../../kube/events.ts';
import { parseKey, type Observed } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import type { Note, Notes } from '../../lti/registrations/notes.sql.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { LTI_REGISTRATION, type LtiRegistration } from '../kinds.ts';
import { slugOf } from '../names.ts';
import type { ShardChanges } from '../shard-changes.ts';
import type { TenantAccess } from '../tenant-rows.ts';

export interface NotesDeps {
  readonly registrations: Store<LtiRegistration>;
  readonly access: TenantAccess;
  readonly events: EventRecorder;
}

interface Report<Row extends Note> {
  /** Returns whether the note still applies to the registration's spec. */
  isCurrent(row: Row, registration: Observed<LtiRegistration>): boolean;
  event(row: Row, registration: Observed<LtiRegistration>): { readonly reason: string; readonly message: string };
}

/**
 * Reports notes of tenants' servers by Warnings at their LtiRegistrations.
 *
 * - Each note gives one Event, and another only if it recurs an hour later, whatever the tenant writes.
 * - Notes that are expired, that the spec now covers, or whose registration was deleted are removed.
 */
export const reportNotes = <Row extends Note>(
  deps: NotesDeps,
  notes: Notes<Row>,
  { isCurrent, event }: Report<Row>,
): ShardChanges<Row> => ({
  isWanted: () => deps.registrations.size > 0,
  select: notes.select,
  async onChange(pool, rows) {
    const current = new Map<Row, Observed<LtiRegistration>>();
    for (const row of rows) {
      const registration = row.isExpired ? undefined : registrationOf(deps, row);
      if (registration && isCurrent(row, registration)) current.set(row, registration);
    }
    const others = rows.filter((row) => !current.has(row));
    // Marked first: an Event that is lost with a leader does less harm than one at every look.
    if (current.size > 0) await notes.markReported(pool, [...current.keys()]);
    if (others.length > 0) await notes.remove(pool, others);
    for (const [row, registration] of current)
      deps.events.record(registration, LTI_REGISTRATION, { type: 'Warning', ...event(row, registration) });
  },
});

/** A tenant writes its own notes: one that names the registration of another tenant counts for nothing. */
function registrationOf(
  { registrations, access }: NotesDeps,
  { reference, tenant: role }: Note,
): Observed<LtiRegistration> | undefined {
  const registration = registrations.get(parseKey(reference));
  if (!registration) return undefined;
  const tenant = access.find(registration.metadata.namespace ?? '', registration.spec.tenantRef.name);
  return tenant && tenantRole(slugOf(tenant)) === role ? registration : undefined;
}

/** Returns a YAML string of printable characters, since an LMS may send any text. */
export const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
