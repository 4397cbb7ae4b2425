import { Notice } from '../../design/badge.tsx';
import { t } from '../../text/sharing.ts';
import { useMe } from '../services.ts';

/** Says that the tenant has switched links off; nothing where they are allowed. */
export function LinksOff() {
  const { features } = useMe();
  if (features.share_links) return null;
  return (
    <Notice tone="warning" title={t('linksOff')}>
      {t('linksOffText')}
    </Notice>
  );
}
