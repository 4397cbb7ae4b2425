import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { LtiContext } from '../../api/operations.generated.ts';
import { LinkButton } from '../../design/button.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { count, t } from '../../text/courses.ts';
import { BackLink } from '../back-link.tsx';
import { PageProblem } from '../admin/page-problem.tsx';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { useTitle } from '../use-title.ts';
import { GradeBook } from './grade-book.tsx';
import { Grades } from './grades.tsx';
import { Roster } from './roster.tsx';
import { Services } from './services-offered.tsx';
import './courses.css';

/** One course: its people, the grade book of its LMS, and the grades that were given here. */
export function CoursePage() {
  const { id = '' } = useRoute().params;
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/lti/contexts/{id}', { path: { id }, signal }), [id]);
  useTitle(value?.title ?? t('title'));
  return (
    <div class="courses">
      <BackLink href="/courses">{t('back')}</BackLink>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton label={t('loading')} />}
      {value && <Shown course={value} onChange={reload} />}
    </div>
  );
}

function Shown({ course, onChange }: { readonly course: LtiContext; readonly onChange: () => void }) {
  const [tab, setTab] = useState('people');
  const { title, label, lms_id, members, folder } = course;
  return (
    <>
      <header class="courses-head">
        <div class="courses-what">
          <h1>{title}</h1>
          <p class="courses-quiet">
            {label !== null && `${label} · `}
            {count('people', members)} · {t('lmsId')}: <code>{lms_id}</code>
          </p>
        </div>
        {folder && (
          <LinkButton href={`/files/${folder.id}`} icon="folder">
            {t('openFolder')}
          </LinkButton>
        )}
      </header>
      <Services course={course} />
      <Tabs
        label={t('details', { title })}
        tabs={[
          { id: 'people', label: t('tab.people'), icon: 'people' },
          { id: 'book', label: t('tab.book'), icon: 'list' },
          { id: 'grades', label: t('tab.grades'), icon: 'check' },
        ]}
        selected={tab}
        onSelect={setTab}
      >
        {tab === 'people' && <Roster course={course} onChange={onChange} />}
        {tab === 'book' && <GradeBook course={course} />}
        {tab === 'grades' && <Grades course={course} />}
      </Tabs>
    </>
  );
}
