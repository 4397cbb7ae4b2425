import { useEffect } from 'preact/hooks';
import { slots } from '../shell/slots.ts';
import { SearchField } from './search-field.tsx';

/** Fills the header's place for a search. It stays filled on other pages: one searches files from everywhere. */
export function useSearchField(): void {
  useEffect(() => slots.search.set(SearchField), []);
}
