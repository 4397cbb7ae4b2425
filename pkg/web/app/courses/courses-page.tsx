import type { LtiContext } from '../../api/operations.generated.ts';
import { EmptyState } from '../../design/empty-state.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { count, t } from '../../text/courses.ts';
import { PageProblem } from '../admin/page-problem.tsx';
import { useClient } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useTitle } from '../use-title.ts';
import { Services } from './services-offered.tsx';
import './courses.css';

/** The courses of LMSs that somebody teaches; for administrators all of them. */
export function CoursesPage() {
  const client = useClient();
  const list = usePages((cursor, signal) => client.get('/lti/contexts', { query: { limit: 50, cursor }, signal }), []);
  useTitle(t('title'));
  return (
    <div class="courses">
      <h1>{t('title')}</h1>
      {list.problem && <PageProblem problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && (
        <EmptyState drawing="shared" title={t('none')}>
          {t('noneText')}
        </EmptyState>
      )}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="courses-list">
            {list.items.map((course) => (
              <Row key={course.id} course={course} />
            ))}
          </ul>
        </EndlessList>
      )}
    </div>
  );
}

const Row = ({ course }: { readonly course: LtiContext }) => (
  <li class="courses-row">
    <div class="courses-what">
      <a class="courses-name" href={`/courses/${course.id}`}>
        {course.title}
      </a>
      <p class="courses-quiet">
        {course.label !== null && `${course.label} · `}
        {count('people', course.members)}
        {' · '}
        {course.roster_synced_at === null ? (
          t('neverSynced')
        ) : (
          <>
            {t('synced')} <DateTime value={course.roster_synced_at} />
          </>
        )}
      </p>
    </div>
    <Services course={course} />
  </li>
);
