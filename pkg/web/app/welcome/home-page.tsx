import { useEffect, useState } from 'preact/hooks';
import { FilesPage } from '../files/files-page.tsx';
import { useMe } from '../services.ts';
import { useLater } from '../use-later.ts';
import { isWelcomed, setWelcomed } from './welcomed.ts';

/** The files; for an administrator who has none yet, first what there is to do. Few people see that: it is loaded for them. */
export function HomePage() {
  const { permissions, quota } = useMe();
  const [isNew, setNew] = useState(() => permissions.includes('write:users') && quota.used === 0 && !isWelcomed());
  const [Welcome, load] = useLater(async () => (await import('./welcome-page.tsx')).Welcome);
  useEffect(() => {
    if (isNew) void load().then((isLoaded) => isLoaded || setNew(false));
  }, []);
  if (!isNew) return <FilesPage />;
  if (!Welcome) return null;
  return (
    <Welcome
      onLeave={() => {
        setWelcomed();
        setNew(false);
      }}
    />
  );
}
