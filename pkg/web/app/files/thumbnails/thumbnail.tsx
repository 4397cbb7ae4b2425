import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from '../../../api/client.ts';
import { useClient } from '../../services.ts';
import { EntryIcon } from '../columns.tsx';
import type { Entry } from '../entry.ts';
import { hasThumbnail, Thumbnails } from './thumbnails.ts';

const caches = new WeakMap<Client, Thumbnails>();

function useThumbnails(): Thumbnails {
  const client = useClient();
  const cache = caches.get(client) ?? new Thumbnails(client);
  caches.set(client, cache);
  return cache;
}

/** A picture of an image file, made when it comes into view; the icon of its kind for others, and until then. */
export function Thumbnail({ id, entry }: { readonly id?: string; readonly entry: Entry }) {
  const thumbnails = useThumbnails();
  const box = useRef<HTMLSpanElement>(null);
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    setUrl(undefined);
    if (!box.current || !hasThumbnail(entry)) return undefined;
    const abort = new AbortController();
    const observer = new IntersectionObserver(([seen]) => {
      if (!seen?.isIntersecting) return;
      observer.disconnect();
      void thumbnails.of(entry, abort.signal).then((made) => abort.signal.aborted || setUrl(made));
    });
    observer.observe(box.current);
    return () => {
      abort.abort();
      observer.disconnect();
    };
  }, [entry.id, entry.etag]);
  return (
    <span ref={box} {...(id === undefined ? {} : { id })} class="files-thumbnail">
      {url === undefined ? <EntryIcon entry={entry} size="xl" /> : <img src={url} alt="" decoding="async" />}
    </span>
  );
}
