import type { ComponentType } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureToast } from '../failure-toast.ts';
import { extensions } from '../files/entry-actions.ts';
import type { Entry } from '../files/entry.ts';
import { loadedLater } from '../use-later.ts';
import { previewAddress, previewedIn } from './address.ts';
import type { PreviewProps } from './preview-props.ts';

/**
 * Opens a file of a list in the preview. The address names the file: a reload shows it again, and the browser's Back closes it.
 * The preview itself is loaded when it is first opened.
 */
export function PreviewHost() {
  const { url, query, route } = useLocation();
  const id = previewedIn(query);
  const address = useRef(url);
  address.current = url;
  const [listed, setListed] = useState<readonly Entry[]>([]);
  const [Preview, setPreview] = useState<ComponentType<PreviewProps>>();
  /** The history's last entry is the page without the preview. */
  const isOpenedHere = useRef(false);

  const show = (shown: string | undefined, replaces: boolean): void => route(previewAddress(address.current, shown), replaces);
  const close = (): void => {
    const goesBack = isOpenedHere.current;
    // The browser goes back a moment later: another Escape until then must not leave the page.
    isOpenedHere.current = false;
    if (goesBack) history.back();
    else show(undefined, true);
  };

  useEffect(() => {
    extensions.opener.set((entry, siblings) => {
      setListed(siblings);
      isOpenedHere.current = true;
      show(entry.id, false);
    });
    return () => extensions.opener.set(undefined);
  }, []);
  useEffect(() => {
    if (id === undefined) {
      isOpenedHere.current = false;
      setListed([]);
      return;
    }
    if (Preview) return;
    loadedLater(() => import('./preview-dialog.tsx')).then(
      ({ PreviewDialog }) => setPreview(() => PreviewDialog),
      (error: unknown) => {
        failureToast(error);
        close();
      },
    );
  }, [id]);

  if (id === undefined || !Preview) return null;
  return <Preview id={id} listed={listed} onShow={(next) => show(next, true)} onClose={close} />;
}
