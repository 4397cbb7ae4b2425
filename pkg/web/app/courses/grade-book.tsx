import { useState } from 'preact/hooks';
import type { LineItem, LtiContext } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/courses.ts';
import { inDigits } from '../../text/language.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useNames } from './use-names.ts';

/** The columns of the LMS's grade book, with the results of each. */
export function GradeBook({ course }: { readonly course: LtiContext }) {
  return course.services.line_items === null ? <p class="courses-quiet">{t('noBook')}</p> : <Columns course={course} />;
}

function Columns({ course }: { readonly course: LtiContext }) {
  const client = useClient();
  const path = { id: course.id };
  const names = useNames(course.id);
  const list = usePages(
    (cursor, signal) => client.get('/lti/contexts/{id}/line-items', { path, query: { limit: 50, cursor }, signal }),
    [course.id],
  );
  return (
    <div class="courses-section">
      <p class="courses-quiet">{t('bookText')}</p>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('bookNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="courses-list">
            {list.items.map((item) => (
              <Column key={item.id} course={course} item={item} names={names} />
            ))}
          </ul>
        </EndlessList>
      )}
    </div>
  );
}

interface ColumnProps {
  readonly course: LtiContext;
  readonly item: LineItem;
  readonly names: ReturnType<typeof useNames>;
}

function Column({ course, item, names }: ColumnProps) {
  const [isOpen, setOpen] = useState(false);
  const { label, score_maximum, end_at } = item;
  return (
    <li class="courses-column">
      <div class="courses-row">
        <div class="courses-what">
          <h2>{label}</h2>
          <p class="courses-quiet">
            {score_maximum !== null && t('maximum', { maximum: score_maximum })}
            {end_at !== null && (
              <>
                {' · '}
                {t('until')} <DateTime value={end_at} isFull />
              </>
            )}
          </p>
        </div>
        {course.services.results && (
          <Button aria-expanded={isOpen} icon={isOpen ? 'chevron-up' : 'chevron-down'} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t('hideResults') : t('showResults')}
          </Button>
        )}
      </div>
      {isOpen && <Results course={course} item={item} names={names} />}
    </li>
  );
}

function Results({ course, item, names }: ColumnProps) {
  const client = useClient();
  const path = { id: course.id, line_item_id: item.id };
  const list = usePages(
    (cursor, signal) =>
      client.get('/lti/contexts/{id}/line-items/{line_item_id}/results', { path, query: { limit: 50, cursor }, signal }),
    [course.id, item.id],
  );
  const title = t('resultsOf', { label: item.label });
  return (
    <div class="courses-results">
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('resultsNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <div class="courses-scroll" role="region" aria-label={title} tabIndex={0}>
            <table class="courses-table">
              <caption class="c-hidden">{title}</caption>
              <thead>
                <tr>
                  <th scope="col">{t('person')}</th>
                  <th scope="col">{t('result')}</th>
                  <th scope="col">{t('comment')}</th>
                </tr>
              </thead>
              <tbody>
                {list.items.map(({ user_id, user, result_score, result_maximum, comment }) => (
                  <tr key={user_id}>
                    <th scope="row">{names?.get(user_id) ?? user?.name ?? user_id}</th>
                    <td data-label={t('result')}>
                      {result_score === null
                        ? t('noScore')
                        : `${inDigits(result_score)} ${t('maximum', { maximum: result_maximum })}`}
                    </td>
                    <td data-label={t('comment')}>{comment}</td>
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
