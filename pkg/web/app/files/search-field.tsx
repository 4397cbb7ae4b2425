import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/files.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { searchAddress } from './search-address.ts';

/** A search begins when nobody has typed for so long. */
const PAUSE_MS = 250;

/**
 * The field of the header. It searches as one types: the address is that of the search, so that Back returns to the folder. A
 * folder that was shown is where one may narrow the search to. Without words the filters that are chosen stay.
 */
export function SearchField() {
  const { path, query, route } = useLocation();
  /** The header is outside of the routes and reads the folder from the address. */
  const folder = /^\/files\/([\w-]+)$/.exec(path)?.[1];
  const input = useRef<HTMLInputElement>(null);
  const isSearch = path === '/search';
  const asked = isSearch ? (query.q ?? '') : '';
  const [text, setText] = useState(asked);
  const isOwn = useRef(false);
  /** Typing has opened the search: whoever empties the field goes back to where they were. */
  const isBegun = useRef(false);
  if (!isSearch) isBegun.current = false;
  const isFiltered = Object.keys(query).some((name) => name !== 'q' && name !== 'folder');

  // The address changed by other means: Back, a link.
  useEffect(() => {
    if (!isOwn.current) setText(asked);
    isOwn.current = false;
  }, [asked, isSearch]);
  /** A filter may be chosen before the search begins. */
  const begin = useRef((): void => undefined);
  begin.current = () => {
    isOwn.current = true;
    const q = text.trim();
    if (q === '' && isBegun.current && !isFiltered) return history.back();
    isBegun.current ||= !isSearch;
    route(searchAddress({ ...(isSearch ? query : folder === undefined ? {} : { folder }), q }), isSearch);
  };
  useEffect(() => {
    if (text.trim() === asked.trim()) return undefined;
    const timer = setTimeout(() => begin.current(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const focus = (): void => {
    input.current?.focus();
    input.current?.select();
  };
  useShortcuts(
    {
      title: t('searchTitle'),
      shortcuts: [
        { keys: '/', label: t('search'), run: focus },
        { keys: 's', label: t('search'), run: focus },
      ],
    },
    [],
  );

  return (
    <TextField
      label={t('search')}
      isLabelHidden
      type="search"
      icon="search"
      placeholder={t('search')}
      value={text}
      onValue={setText}
      clearLabel={t('clearSearch')}
      inputRef={input}
      autocomplete="off"
      maxLength={200}
    />
  );
}
