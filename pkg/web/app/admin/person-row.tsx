import type { User } from '../../api/operations.generated.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Badge } from '../../design/badge.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Menu, type MenuItems } from '../../design/menu.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../text/admin.ts';
import { t as person } from '../../text/person.ts';
import { sizeInWords } from '../size-in-words.ts';
import { nameOf } from './person-name.ts';

interface Props {
  readonly user: User;
  /** Undefined: the reader changes nobody. */
  readonly items: MenuItems | undefined;
}

/** A person in the list, with a link to their page. */
export function PersonRow({ user, items }: Props) {
  const name = nameOf(user);
  const label = t('people.menu', { name });
  const used = person('ofQuota', { used: sizeInWords(user.storage_used), quota: sizeInWords(user.storage_quota) });
  return (
    <tr>
      <th scope="row">
        <div class="admin-person">
          <Avatar name={name} />
          <div>
            <a class="c-name" href={`/admin/people/${user.id}`}>
              {name}
            </a>
            <div class="admin-quiet">{user.email}</div>
          </div>
        </div>
      </th>
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
        <div class="people-storage">
          <Progress value={Math.min(user.storage_used, user.storage_quota)} max={Math.max(user.storage_quota, 1)} />
          <span class="admin-quiet">{used}</span>
        </div>
      </td>
      <td class="admin-quiet">
        <DateTime value={user.created_at} />
      </td>
      <td>
        {items && (
          <Menu
            label={label}
            align="end"
            items={items}
            trigger={(props) => <IconButton icon="more" label={label} {...props} />}
          />
        )}
      </td>
    </tr>
  );
}
