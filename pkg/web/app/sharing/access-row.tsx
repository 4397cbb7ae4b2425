import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Permission } from '../../api/operations.generated.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Button } from '../../design/button.tsx';
import { hasHalfTyped } from '../../design/half-typed.ts';
import { Icon } from '../../design/icon.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { Menu } from '../../design/menu.tsx';
import { Select } from '../../design/select.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/sharing.ts';
import { useMe } from '../services.ts';
import type { AccessRow as Row } from './access-rows.ts';
import type { GrantTerms } from './grants.ts';
import { levelInWords, levelOptions } from './level-options.ts';
import { endInWords } from './link-facts.tsx';
import { dayOf, endOfDay } from './link-terms.ts';

interface Props {
  readonly row: Row;
  readonly onChange: (grant: Permission, terms: GrantTerms, name: string) => Promise<void>;
  readonly onRemove: (grant: Permission, name: string) => Promise<void>;
}

/** A person or group that has access. What comes from a folder above is changed there, and one's own grant by others alone. */
export function AccessRow({ row, onChange, onRemove }: Props) {
  const me = useMe();
  const [isEnding, setEnding] = useState(false);
  const line = useRef<HTMLLIElement>(null);
  /** The focus returns to the menu, from which the form came. */
  const hideForm = (): void => {
    line.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();
    setEnding(false);
  };
  const name = row.name ?? t('unknownGroup');
  const grant = 'grant' in row && row.grant.user_id !== me.user.id ? row.grant : undefined;
  return (
    <li ref={line} class="share-person">
      <div class="share-person-line">
        {row.kind === 'group' ? (
          <span class="share-group-sign">
            <Icon name="people" />
          </span>
        ) : (
          <Avatar name={name} />
        )}
        <span class="share-person-text">
          <span class="share-person-name">
            {name}
            {row.id === me.user.id && ` ${t('you')}`}
          </span>
          <span class="share-quiet">{reasonInWords(row)}</span>
        </span>
        {grant ? (
          <>
            <Select
              label={t('levelOf', { name })}
              isLabelHidden
              value={grant.permission_level}
              onValue={(permission_level) => void onChange(grant, { permission_level }, name)}
              options={levelOptions()}
            />
            <Menu
              label={t('actionsOf', { name })}
              align="end"
              items={[
                { label: t('setEnd'), icon: 'calendar', onSelect: () => setEnding(true) },
                'separator',
                { label: t('takeBack'), icon: 'close', isDanger: true, onSelect: () => void onRemove(grant, name) },
              ]}
              trigger={(props) => <IconButton icon="more" label={t('actionsOf', { name })} {...props} />}
            />
          </>
        ) : (
          <span class="share-quiet share-level">{levelOfRow(row)}</span>
        )}
      </div>
      {grant && isEnding && (
        <EndForm
          grant={grant}
          onCancel={hideForm}
          onEnd={(expires_at) => {
            hideForm();
            void onChange(grant, { expires_at }, name);
          }}
        />
      )}
    </li>
  );
}

function levelOfRow(row: Row): string {
  if (row.kind === 'owner') return t('owner');
  return levelInWords(row.kind === 'inherited' ? row.level : row.grant.permission_level);
}

function reasonInWords(row: Row): string {
  if (row.kind === 'owner') return t('becauseOwner');
  if (row.kind === 'inherited')
    return row.folder === undefined ? t('becauseFolderAbove') : t('becauseFolder', { name: row.folder });
  const why = row.kind === 'group' ? t('becauseGroup') : t('becauseGrant');
  return row.grant.expires_at === null ? why : `${why} · ${endInWords(row.grant.expires_at, new Date())}`;
}

interface EndProps {
  readonly grant: Permission;
  readonly onEnd: (end: string | null) => void;
  readonly onCancel: () => void;
}

/** Asks for the day at whose end a grant is over. */
function EndForm({ grant, onEnd, onCancel }: EndProps) {
  const [day, setDay] = useState(grant.expires_at === null ? '' : dayOf(new Date(grant.expires_at)));
  const [isTried, setTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const today = dayOf(new Date());
  const isPast = day !== '' && day < today;
  return (
    <form
      class="share-end"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!isPast && !hasHalfTyped(event.currentTarget)) onEnd(day === '' ? null : endOfDay(day).toISOString());
      }}
    >
      <TextField
        label={t('accessEnds')}
        type="date"
        min={today}
        value={day}
        onValue={setDay}
        hint={t('accessEndsHint')}
        error={isTried && isPast ? t('fault.endsPast') : undefined}
        inputRef={field}
      />
      <Button onClick={onCancel}>{t('cancel')}</Button>
      <Button type="submit">{t('save')}</Button>
    </form>
  );
}
