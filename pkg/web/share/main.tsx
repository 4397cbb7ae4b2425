import { render } from 'preact';
import { problemOf } from '../api/problem.ts';
import '../design/index.css';
import { speak } from '../text/language.ts';
import { Link } from './link.ts';
import { Share } from './share.tsx';
import './share.css';

const root = document.querySelector('#app');
const token = location.pathname.split('/')[2] ?? '';

// The page of a link that does not work has nothing to fill.
if (root) {
  const link = new Link(token);
  const [first] = await Promise.all([link.show().catch(problemOf), speak(document.documentElement.lang)]);
  // What the server sent stays until there is more to show; what somebody has typed there meanwhile is kept.
  const typed = root.querySelector('input')?.value ?? '';
  const fault = root.querySelector('[role=alert]')?.textContent ?? '';
  root.replaceChildren();
  render(<Share link={link} first={first} typed={typed} fault={fault} />, root);
}
