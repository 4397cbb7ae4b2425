import type { Group } from '../../../api/operations.generated.ts';
import { EndlessList } from '../../../design/endless-list.tsx';
import { KindIcon } from '../../../design/file-icon.tsx';
import { fileKind } from '../../../design/file-kind.ts';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/groups.ts';
import { useClient } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { PageProblem } from '../page-problem.tsx';

/** The files and folders that a group opens to its members. */
export function GroupAccess({ group }: { readonly group: Group }) {
  const client = useClient();
  const grants = usePages(
    (cursor, signal) => client.get('/groups/{id}/permissions', { path: { id: group.id }, query: { limit: 50, cursor }, signal }),
    [group.id],
  );
  return (
    <div class="group-part">
      <h2>{t('access')}</h2>
      <p class="admin-quiet">{t('accessText')}</p>
      {grants.problem && <PageProblem problem={grants.problem} onRetry={grants.more} />}
      {!grants.items && !grants.problem && <Skeleton kind="rows" label={t('loading')} />}
      {grants.items?.length === 0 && <p role="status">{t('noAccess')}</p>}
      {grants.items && grants.items.length > 0 && (
        <EndlessList
          isMore={grants.isMore}
          isLoading={grants.isLoading}
          hasFailed={grants.problem !== undefined}
          moreLabel={t('more')}
          onMore={grants.more}
        >
          <div class="admin-scroll" role="region" aria-label={t('access')} tabIndex={0}>
            <table class="admin-table admin-table-text" aria-label={t('access')}>
              <thead>
                <tr>
                  <th scope="col">{t('item')}</th>
                  <th scope="col">{t('level')}</th>
                  <th scope="col">{t('by')}</th>
                  <th scope="col">{t('ends')}</th>
                </tr>
              </thead>
              <tbody>
                {grants.items.map(({ id, resource, permission_level, granted_by, expires_at }) => (
                  <tr key={id}>
                    <th scope="row">
                      <span class="admin-person">
                        {resource.type === 'folder' ? (
                          <KindIcon kind="folder" label={t('folder')} />
                        ) : (
                          <KindIcon kind={fileKind(undefined, resource.name)} />
                        )}
                        {resource.name}
                      </span>
                    </th>
                    <td>{t(`level.${permission_level}`)}</td>
                    <td>{granted_by.name}</td>
                    <td>{expires_at === null ? t('never') : <DateTime value={expires_at} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
    </div>
  );
}
