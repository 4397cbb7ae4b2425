import { useEffect, useState } from 'preact/hooks';

/** Returns the value once it has not changed for a while: a search then asks once a word, not once a letter. */
export function useSettled<T>(value: T, ms = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
