import { useEffect, useRef } from 'preact/hooks';

/** Searches by name. `query`: what is shown as found; empty: no search. */
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
      <label for="search-input">Search files and folders by name</label>
      <input id="search-input" ref={input} type="search" maxLength={255} autocomplete="off" />
      <button type="submit">Search</button>
      {query !== '' && (
        <button
          type="button"
          onClick={() => {
            input.current?.focus(); // this button disappears
            onSearch('');
          }}
        >
          End search
        </button>
      )}
    </form>
  );
}
