import type { TenantMigration } from './migration.ts';

/**
 * Copies of courses, and links of Dynamic Registration when they are made and used, have entries in the audit log (shard
 * migration 0210).
 */
export const auditOfCourses: TenantMigration = {
  name: '0220-audit-of-courses',
  up: () => `
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_course_copies FOR EACH ROW EXECUTE FUNCTION carrel.audit_lti_course_copies();
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_registration_links FOR EACH ROW EXECUTE FUNCTION carrel.audit_lti_registration_links();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_registration_links FOR EACH ROW WHEN (OLD.used_at IS NULL AND NEW.used_at IS NOT NULL)
        EXECUTE FUNCTION carrel.audit_lti_registration_links();
    `,
  down: () => `
      DROP TRIGGER audit_insert ON lti_course_copies;
      DROP TRIGGER audit_insert ON lti_registration_links;
      DROP TRIGGER audit_update ON lti_registration_links;
    `,
};
