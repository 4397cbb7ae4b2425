import { useState } from 'preact/hooks';
import { FilesPage } from '../files/files-page.tsx';
import { useMe } from '../services.ts';
import { isWelcomed, setWelcomed } from './welcomed.ts';
import { Welcome } from './welcome-page.tsx';

/** The files; for an administrator who has none yet, first what there is to do. */
export function HomePage() {
  const { permissions, quota } = useMe();
  const [isNew, setNew] = useState(() => permissions.includes('write:users') && quota.used === 0 && !isWelcomed());
  if (!isNew) return <FilesPage />;
  return (
    <Welcome
      onLeave={() => {
        setWelcomed();
        setNew(false);
      }}
    />
  );
}
