import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import '../../design/field.css';
import { t } from '../../text/lti.ts';

/** Searches by name. `query`: the search whose results are shown; empty: none. */
export function SearchForm({ query, onSearch }: { query: string; onSearch: (query: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (query === '' && input.current) input.current.value = '';
  }, [query]);
  const submit = (event: Event): void => {
    event.preventDefault();
    onSearch(input.current?.value.trim() ?? '');
  };
  return (
    <form role="search" onSubmit={submit}>
      <label for="search-input">{t('picker.search')}</label>
      <input id="search-input" ref={input} type="search" class="c-input" maxLength={255} autocomplete="off" />
      <Button type="submit" icon="search">
        {t('picker.startSearch')}
      </Button>
      {query !== '' && (
        <Button
          kind="quiet"
          onClick={() => {
            input.current?.focus(); // This button disappears.
            onSearch('');
          }}
        >
          {t('picker.endSearch')}
        </Button>
      )}
    </form>
  );
}
