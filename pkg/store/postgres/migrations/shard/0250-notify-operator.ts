import type { Migration } from '../migration.ts';

/**
 * A registration that an LMS made is notified to the operator (channel `carrel_operator`), which otherwise sees it at its next
 * poll.
 */
export const notifyOperator: Migration<object> = {
  name: '0250-notify-operator',
  up: () => `
      CREATE FUNCTION carrel.notify_operator() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
      BEGIN
        PERFORM pg_catalog.pg_notify('carrel_operator', '');
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION carrel.notify_operator FROM PUBLIC;
      CREATE TRIGGER registration_requests_notify AFTER INSERT ON carrel.registration_requests
        FOR EACH ROW EXECUTE FUNCTION carrel.notify_operator();
    `,
  down: () => `
      DROP TRIGGER registration_requests_notify ON carrel.registration_requests;
      DROP FUNCTION carrel.notify_operator();
    `,
};
