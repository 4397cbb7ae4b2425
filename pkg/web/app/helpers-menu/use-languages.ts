import { useState } from 'preact/hooks';
import type { Helpers } from '../../api/operations.generated.ts';
import { currentLanguage } from '../../text/language.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';

interface Languages {
  /** Whether the helper answered within the last minute; undefined while that is not known. */
  readonly isAvailable: boolean | undefined;
  /** Undefined if the helper does not list them. */
  readonly languages: readonly string[] | undefined;
  /** Whether they are known by now. */
  readonly isLoading: boolean;
  readonly target: string;
  readonly setTarget: (tag: string) => void;
}

/** The languages of a translator, and the chosen one: until somebody chooses, that of the page or the first. */
export function useLanguages(helper: keyof Helpers): Languages {
  const client = useClient();
  const { value, isLoading } = useLoaded((signal) => client.get('/helpers', { signal }), []);
  const [chosen, setTarget] = useState<string>();
  const languages = value?.[helper].languages;
  const offered = languages?.includes(currentLanguage()) ? currentLanguage() : languages?.[0];
  const target = chosen ?? offered ?? '';
  return { isAvailable: value?.[helper].available, languages, isLoading, target, setTarget };
}
