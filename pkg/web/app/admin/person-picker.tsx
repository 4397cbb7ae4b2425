import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { Avatar } from '../../design/avatar.tsx';
import { classes } from '../../design/classes.ts';
import type { FieldProps } from '../../design/field.tsx';
import { type Anchor, usePopover } from '../../design/popover.ts';
import { TextField } from '../../design/text-field.tsx';
import { count, t } from '../../text/admin.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { useSettled } from '../use-settled.ts';
import { nameOf } from './person-name.ts';
import './person-picker.css';

const SHOWN = 8;

/** Somebody who is chosen. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

interface Props extends Pick<FieldProps, 'label' | 'hint' | 'error' | 'class'> {
  readonly chosen: Person | undefined;
  readonly onChoose: (person: Person | undefined) => void;
  readonly placeholder?: string;
  /** Leaves out people who cannot sign in. */
  readonly isActiveOnly?: boolean;
  /** Somebody who cannot be chosen. */
  readonly except?: string;
  readonly autofocus?: boolean;
}

/** Finds a person by name or address (ARIA: a combobox with a list). The arrows go through the list, Enter chooses. */
export function PersonPicker({ chosen, onChoose, placeholder, isActiveOnly = false, except, autofocus, ...field }: Props) {
  const client = useClient();
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [anchor, setAnchor] = useState<Anchor>();
  const [at, setAt] = useState(0);
  const isOpen = anchor !== undefined;
  const asked = useSettled(text.trim());
  const { value: found } = useLoaded(
    async (signal) => {
      if (!isOpen) return undefined;
      const query = { q: asked || undefined, limit: SHOWN, sort: 'username', ...(isActiveOnly ? { is_active: true } : {}) };
      return { asked, people: (await client.get('/users', { query, signal })).data };
    },
    [asked, isOpen],
  );
  // What was found for fewer letters is not what is asked for now: Enter must not choose from it.
  const isSearching = found?.asked !== text.trim();
  const people = isSearching ? [] : found.people.filter(({ id }) => id !== except);
  const open = (): void => {
    const box = input.current?.getBoundingClientRect();
    if (box) setAnchor(box);
  };
  const choose = (user: User | undefined): void => {
    if (!user) return;
    onChoose({ id: user.id, name: nameOf(user) });
    setText('');
    setAnchor(undefined);
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (!isOpen) open();
      else if (people.length > 0) setAt((at + step + people.length) % people.length);
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      choose(people[at]);
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      setAnchor(undefined);
    }
  };
  const active = isOpen ? people[at] : undefined;
  return (
    <>
      <TextField
        {...field}
        inputRef={input}
        icon="person"
        placeholder={placeholder}
        clearLabel={t('picker.clear')}
        autocomplete="off"
        autofocus={autofocus}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        {...(active ? { 'aria-activedescendant': `${list}-${active.id}` } : {})}
        value={chosen?.name ?? text}
        onValue={(value) => {
          // Whoever types over a name looks for another person.
          if (chosen) onChoose(undefined);
          setText(value);
          setAt(0);
          if (!isOpen && value !== '') open();
        }}
        onClick={() => !isOpen && !chosen && open()}
        onKeyDown={press}
        onBlur={() => setAnchor(undefined)}
      />
      {anchor && (
        <Popup anchor={anchor} onClose={() => setAnchor(undefined)}>
          {people.length === 0 && <p class="person-picker-none">{isSearching ? t('loading') : t('people.none')}</p>}
          <ul id={list} role="listbox" aria-label={field.label} class="person-picker-list">
            {people.map((user, index) => (
              <li
                key={user.id}
                id={`${list}-${user.id}`}
                role="option"
                aria-selected={index === at}
                class={classes('person-picker-option', index === at && 'person-picker-at')}
                onPointerEnter={() => setAt(index)}
                // Before the field loses the focus and the list closes.
                onPointerDown={(event) => {
                  event.preventDefault();
                  choose(user);
                }}
              >
                <Avatar name={nameOf(user)} size="s" />
                <span class="person-picker-name">{nameOf(user)}</span>
                <span class="admin-quiet">{user.email}</span>
              </li>
            ))}
          </ul>
        </Popup>
      )}
      <p class="c-hidden" role="status">
        {isOpen && !isSearching && (people.length === 0 ? t('people.none') : count('picker.found', people.length))}
      </p>
    </>
  );
}

interface PopupProps {
  readonly anchor: Anchor;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

function Popup({ anchor, onClose, children }: PopupProps) {
  const box = usePopover(anchor, 'start', onClose);
  return (
    <div ref={box} popover="auto" class="c-menu person-picker">
      {children}
    </div>
  );
}
