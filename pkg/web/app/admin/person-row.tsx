import type { User } from '../../api/operations.generated.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Badge } from '../../design/badge.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { FileSize } from '../../design/measures.tsx';
import { Menu } from '../../design/menu.tsx';
import { t } from '../../text/admin.ts';
import { useMe } from '../services.ts';
import { nameOf } from './person-name.ts';

interface Props {
  readonly user: User;
  readonly mayChange: boolean;
  readonly onPassword: () => void;
  readonly onRoles: () => void;
  readonly onActive: (isActive: boolean) => void;
}

/** A person in the list. Nobody takes their own rights away by a slip. */
export function PersonRow({ user, mayChange, onPassword, onRoles, onActive }: Props) {
  const me = useMe();
  const name = nameOf(user);
  const label = t('people.menu', { name });
  return (
    <tr>
      <td>
        <div class="admin-person">
          <Avatar name={name} />
          <div>
            <div>{name}</div>
            <div class="admin-quiet">{user.email}</div>
          </div>
        </div>
      </td>
      <td>
        <div class="admin-roles">
          {user.roles.map((role) => (
            <Badge key={role} tone={role === 'admin' ? 'accent' : 'neutral'}>
              {t(`role.${role}`)}
            </Badge>
          ))}
          {!user.is_active && <Badge tone="warning">{t('people.inactive')}</Badge>}
        </div>
      </td>
      <td>
        <FileSize bytes={user.storage_used} />
      </td>
      <td>
        {mayChange && (
          <Menu
            label={label}
            align="end"
            items={[
              { label: t('people.password'), icon: 'key', isDisabled: !user.is_active, onSelect: onPassword },
              { label: t('people.changeRoles'), icon: 'people', onSelect: onRoles },
              'separator',
              user.is_active
                ? {
                    label: t('people.deactivate'),
                    icon: 'lock',
                    isDanger: true,
                    isDisabled: user.id === me.user.id,
                    onSelect: () => onActive(false),
                  }
                : { label: t('people.activate'), icon: 'check', onSelect: () => onActive(true) },
            ]}
            trigger={(props) => <IconButton icon="more" label={label} {...props} />}
          />
        )}
      </td>
    </tr>
  );
}
