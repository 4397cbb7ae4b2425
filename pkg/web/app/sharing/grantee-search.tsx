import { useId, useRef, useState } from 'preact/hooks';
import type { Grantee } from '../../api/operations.generated.ts';
import { Avatar } from '../../design/avatar.tsx';
import { classes } from '../../design/classes.ts';
import { Icon } from '../../design/icon.tsx';
import { TextField } from '../../design/text-field.tsx';
import { count, t } from '../../text/sharing.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMay } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { useSettled } from '../use-settled.ts';

interface Props {
  /** Who has a grant already. */
  readonly taken: ReadonlySet<string>;
  readonly onChoose: (grantee: Grantee) => void;
  /** The purpose of the field; without it, to give access. */
  readonly label?: string;
  readonly isPeopleOnly?: boolean;
  readonly autofocus?: boolean;
}

const SHOWN = 8;

/** A field that finds people and groups as one types. Up and Down choose one of those found, Enter takes it. */
export function GranteeSearch({ taken, onChoose, label = t('addPeople'), isPeopleOnly = false, autofocus }: Props) {
  const client = useClient();
  const seesAll = useMay('read:users');
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  const asked = useSettled(text.trim());
  const { value, problem } = useLoaded(
    async (signal) => ({
      asked,
      all: asked === '' ? [] : (await client.get('/grantees', { query: { q: asked, limit: 50 }, signal })).data,
    }),
    [asked],
  );
  const found = (value?.all ?? [])
    .filter(({ type, id }) => !taken.has(id) && !(isPeopleOnly && type === 'group'))
    .slice(0, SHOWN);
  const none = !seesAll ? 'noneFoundHere' : isPeopleOnly ? 'nobodyFound' : 'noneFound';
  const isOpen = asked !== '' && text.trim() !== '' && found.length > 0;
  // What was found for fewer letters is not what is asked for now: Enter must not choose from it.
  const isDone = asked !== '' && value?.asked === text.trim();
  const optionId = (index: number): string => `${list}-${index}`;
  const choose = (grantee: Grantee | undefined): void => {
    if (!grantee) return;
    setText('');
    setActive(0);
    onChoose(grantee);
    field.current?.focus();
  };
  const press = (event: KeyboardEvent): void => {
    const ways: Readonly<Record<string, number>> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const next = ways[event.key];
    if (next !== undefined && isOpen) setActive((next + found.length) % found.length);
    else if (event.key === 'Enter') choose(isOpen && isDone ? found[active] : undefined);
    // Escape closes the list first, and the dialog when there is none.
    else if (event.key === 'Escape' && text !== '') setText('');
    else return;
    event.preventDefault();
  };
  return (
    <div class="share-search">
      <TextField
        label={label}
        isLabelHidden
        placeholder={label}
        autofocus={autofocus}
        icon="search"
        autocomplete="off"
        spellcheck={false}
        inputRef={field}
        value={text}
        onValue={(next) => {
          setText(next);
          setActive(0);
        }}
        onKeyDown={press}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        {...(isOpen ? { 'aria-activedescendant': optionId(active) } : {})}
      />
      <ul id={list} role="listbox" aria-label={t('found')} class="share-found" hidden={!isOpen}>
        {found.map((grantee, index) => (
          <li
            key={grantee.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === active}
            class={classes('share-option', index === active && 'share-option-active')}
            onPointerEnter={() => setActive(index)}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(grantee)}
          >
            {grantee.type === 'group' ? (
              <span class="share-group-sign">
                <Icon name="people" />
              </span>
            ) : (
              <Avatar name={grantee.name} />
            )}
            <span class="share-person-text">
              <span class="share-person-name">{grantee.name}</span>
              <span class="share-quiet">
                {grantee.type === 'group' ? count('members', grantee.member_count) : (grantee.email ?? '')}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {problem && <ProblemNote problem={problem} />}
      <p role="status" class={isDone && found.length === 0 ? 'share-quiet' : 'c-hidden'}>
        {isDone && (found.length === 0 ? t(none) : count('foundCount', found.length))}
      </p>
    </div>
  );
}
