import { BY_INDEX, triggerFunction } from './function.ts';

/** Grants that one person has given. */
const PERSON_GRANTS_MAX = 100_000;

/**
 * A grant that a grantee gives depends on the grant that makes them admin (`granted_through`), and neither exceeds nor outlives
 * it. It is deleted when that grant is revoked or is no longer admin, and when the grantee leaves the group that has it; it is
 * shortened when that grant is shortened. These are triggers, so that every writer keeps the rule.
 *
 * bound_grants counts what is there, up to the bound: grants end in too many ways, and change their giver. SQLSTATE CL001: of the
 * person.
 */
export const grantFunctions = `
  ${triggerFunction('bound_grants_through', {
    body: `
    IF NEW.permission_level <> 'admin' THEN
      DELETE FROM permissions WHERE granted_through = NEW.id;
    ELSE
      UPDATE permissions SET expires_at = NEW.expires_at
        WHERE granted_through = NEW.id AND (expires_at IS NULL OR expires_at > NEW.expires_at);
    END IF;`,
  })}
  ${triggerFunction('end_grants_of_member', {
    body: `
    DELETE FROM permissions p USING permissions s
      WHERE s.id = p.granted_through AND s.group_id = OLD.group_id AND p.granted_by = OLD.user_id;`,
  })}
  ${triggerFunction(
    'bound_grants',
    {
      declared: 'giver bigint;',
      body: `
    FOR giver IN SELECT DISTINCT c.granted_by FROM changed c LOOP
      IF (SELECT count(*) FROM (SELECT FROM permissions p WHERE p.granted_by = giver LIMIT ${PERSON_GRANTS_MAX + 1}) p)
        > ${PERSON_GRANTS_MAX} THEN
        RAISE EXCEPTION 'Nobody may have given more than ${PERSON_GRANTS_MAX} grants. Take some back.' USING ERRCODE = 'CL001';
      END IF;
    END LOOP;`,
    },
    BY_INDEX,
  )}
`;
