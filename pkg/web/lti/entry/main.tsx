import { render } from 'preact';
import '../../design/index.css';
import { RequestTextsContext } from '../../design/request-id.tsx';
import { CourseApi } from './course-api.ts';
import { Course } from './course.tsx';
import { Ended } from './notes.tsx';
import { enter, keeperOfTab } from './session.ts';
import { speak } from '../../text/language.ts';
import { requestTexts } from './request-texts.ts';
import './style.css';

const { session, shown } = enter(new URL(location.href), keeperOfTab());
history.replaceState(history.state, '', shown);
await speak(document.documentElement.lang);

const root = document.querySelector('#app');
if (root)
  render(
    <RequestTextsContext.Provider value={requestTexts}>
      {session ? <Course api={new CourseApi(session)} /> : <Ended />}
    </RequestTextsContext.Provider>,
    root,
  );
