import { useEffect } from 'preact/hooks';
import type { CourseApi } from './course-api.ts';
import { CourseFiles } from './course-files.tsx';
import { Grades } from './grades.tsx';
import { HandIn } from './hand-in.tsx';
import { useFailures, useLoaded } from './loaded.ts';
import { ReviewedHandIn } from './reviewed-hand-in.tsx';
import { Share } from './share.tsx';
import { SharedWithMe } from './shared-with-me.tsx';
import { PlacedFile } from './placed-file.tsx';
import { Ended, RefusalNote, WayBack } from './notes.tsx';
import { t } from '../../text/lti.ts';
import './course.css';

/** The page of a course: the user, the files of its folder, and uploads if the user may write. */
export function Course({ api }: { api: CourseApi }) {
  const { failed, isOver } = useFailures();
  const { loaded: launch, refusal, retry } = useLoaded(api.launch, failed);

  const placed = launch?.resource_link?.file;
  const title = placed?.name ?? launch?.context?.title ?? t('course.yours');
  useEffect(() => {
    if (launch) document.title = title;
  }, [launch, title]);

  if (isOver) return <Ended returnUrl={launch?.return_url} />;
  if (!launch)
    return <main>{refusal ? <RefusalNote refusal={refusal} onRetry={retry} /> : <p role="status">{t('loading')}</p>}</main>;
  const { folder } = launch;
  const problem = launch.resource_link?.problem;
  if (launch.reviews)
    return (
      <main>
        <ReviewedHandIn api={api} failed={failed} />
        {launch.return_url && <WayBack url={launch.return_url} />}
      </main>
    );
  const { course_id: courseId, takes_grades: takesGrades } = launch;
  const grades = courseId && takesGrades && (
    <Grades api={api} courseId={courseId} linkId={launch.resource_link?.id} isPlaced={placed != null} failed={failed} />
  );
  const { user, resource_link: link } = launch;
  /** Instructors of the course grade; the others are graded. */
  const handIn = user && link && takesGrades && !courseId && <HandIn api={api} userId={user.id} failed={failed} />;
  if (placed)
    return (
      <main>
        <header>
          <h1>{title}</h1>
        </header>
        <PlacedFile api={api} id={placed.id} failed={failed} />
        {handIn}
        {grades}
        {launch.return_url && <WayBack url={launch.return_url} />}
      </main>
    );
  return (
    <main>
      <header>
        <h1>{title}</h1>
        <p>{launch.user?.name ? t('course.hello', { name: launch.user.name }) : t('course.helloNobody')}</p>
      </header>
      {problem && <RefusalNote refusal={problem} />}
      {folder ? <CourseFiles api={api} folder={folder} failed={failed} /> : <p>{t('course.none')}</p>}
      <SharedWithMe api={api} exceptId={folder?.id} failed={failed} />
      {courseId && <Share api={api} courseId={courseId} failed={failed} />}
      {handIn}
      {grades}
      {launch.return_url && <WayBack url={launch.return_url} />}
    </main>
  );
}
