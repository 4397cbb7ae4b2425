import { render } from 'preact';
import '../../design/index.css';
import { RequestTextsContext } from '../../design/request-id.tsx';
import { Ended } from '../entry/notes.tsx';
import { enter, keeperOfTab } from '../entry/session.ts';
import { PickerApi } from './api.ts';
import { Picker } from './picker.tsx';
import { speak } from '../../text/language.ts';
import { requestTexts } from '../entry/request-texts.ts';
import '../entry/style.css';
import './picker.css';

const { session, shown } = enter(new URL(location.href), keeperOfTab());
history.replaceState(history.state, '', shown);
await speak(document.documentElement.lang);

const root = document.querySelector('#app');
if (root)
  render(
    <RequestTextsContext.Provider value={requestTexts}>
      {session ? <Picker api={new PickerApi(session)} /> : <Ended />}
    </RequestTextsContext.Provider>,
    root,
  );
