import type { Migration } from '../migration.ts';

/**
 * `registration_requests`: registrations that LMSs made by Dynamic Registration, of which the operator is to make resources. A
 * tenant inserts its own rows, the operator deletes them. A tenant has a fixed number of slots, so the rows are bounded.
 */
export const registrationRequests: Migration<object> = {
  name: '0200-registration-requests',
  loses: 'Registrations that LMSs made in the last seconds; they are to be deleted at the LMS and made again.',
  up: () => `
      CREATE TABLE carrel.registration_requests (
        tenant name NOT NULL DEFAULT current_user,
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 19),
        id uuid NOT NULL,
        wanted jsonb NOT NULL CHECK (octet_length(wanted::text) <= 16384),
        requested_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, slot)
      );
      ALTER TABLE carrel.registration_requests ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.registration_requests FORCE ROW LEVEL SECURITY;
      CREATE POLICY registration_requests_of_tenant ON carrel.registration_requests TO carrel_tenant
        USING (tenant = current_user) WITH CHECK (tenant = current_user);
      CREATE POLICY registration_requests_of_operator ON carrel.registration_requests TO CURRENT_USER USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.registration_requests FROM PUBLIC;
      GRANT SELECT, INSERT (slot, id, wanted) ON carrel.registration_requests TO carrel_tenant;
    `,
  down: () => 'DROP TABLE carrel.registration_requests',
};
