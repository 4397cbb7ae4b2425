import { render } from 'preact';
import { problemOf } from '../api/problem.ts';
import '../design/index.css';
import { LiveRegion } from '../design/live-region.tsx';
import { RequestTextsContext } from '../design/request-id.tsx';
import { StatusContext } from '../design/status.tsx';
import { speak } from '../text/language.ts';
import { type Given, Link } from './link.ts';
import { requestTexts } from './request-texts.ts';
import { Share } from './share.tsx';
import './share.css';

const root = document.querySelector('#app');
const token = location.pathname.split('/')[2] ?? '';

// The page of a link that does not work has nothing to fill.
if (root) {
  const given = document.querySelector('#given');
  const { shared, children } = given ? (JSON.parse(given.textContent) as Given) : { shared: null, children: null };
  // When the link ends, nothing of it is left on the page.
  given?.remove();
  const link = new Link(token, children);
  const [first] = await Promise.all([shared ?? link.show().catch(problemOf), speak(document.documentElement.lang)]);
  // What the server sent stays until there is more to show; what somebody has typed there meanwhile is kept.
  const typed = root.querySelector('input')?.value ?? '';
  const fault = root.querySelector('[role=alert]')?.textContent ?? '';
  root.replaceChildren();
  render(
    <RequestTextsContext.Provider value={requestTexts}>
      <StatusContext.Provider value={LiveRegion}>
        <Share link={link} first={first} typed={typed} fault={fault} />
      </StatusContext.Provider>
    </RequestTextsContext.Provider>,
    root,
  );
}
