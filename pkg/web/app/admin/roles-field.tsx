import { Checkbox } from '../../design/checkbox.tsx';
import type { User } from '../../api/operations.generated.ts';
import { t } from '../../text/admin.ts';

export type Role = User['roles'][number];
export const ROLES: readonly Role[] = ['viewer', 'member', 'instructor', 'admin'];

interface Props {
  readonly roles: readonly Role[];
  readonly onRoles: (roles: readonly Role[]) => void;
}

/** What a person may do. */
export const RolesField = ({ roles, onRoles }: Props) => (
  <fieldset class="admin-roles-field">
    <legend class="c-field-label">{t('people.roles')}</legend>
    {ROLES.map((role) => (
      <Checkbox
        key={role}
        label={t(`role.${role}`)}
        hint={t(`roleHint.${role}`)}
        isChecked={roles.includes(role)}
        onChange={(isChecked) => onRoles(ROLES.filter((one) => (one === role ? isChecked : roles.includes(one))))}
      />
    ))}
  </fieldset>
);
