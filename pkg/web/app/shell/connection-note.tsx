import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { announce } from '../../design/live-region.tsx';
import { t } from '../../text/shell.ts';
import { useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import './connection-note.css';

const PROBE_MS = 5_000;

/** Says that nothing reaches the service now. It asks by itself until the service answers again. */
export function ConnectionNote() {
  const { client } = useServices();
  const isReachable = useObserved(client.isReachable);
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const changed = (): void => setOnline(navigator.onLine);
    addEventListener('online', changed);
    addEventListener('offline', changed);
    return () => {
      removeEventListener('online', changed);
      removeEventListener('offline', changed);
    };
  }, []);
  const isConnected = isOnline && isReachable;
  useEffect(() => {
    if (isConnected) return undefined;
    announce(t('offline'));
    const probe = setInterval(() => void client.probe(), PROBE_MS);
    return () => {
      clearInterval(probe);
      announce(t('online'));
    };
  }, [isConnected]);
  if (isConnected) return null;
  return (
    <aside class="connection-note" aria-label={t('connection')}>
      <Icon name="offline" size="s" /> {t('offline')}
    </aside>
  );
}
