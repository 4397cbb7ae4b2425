import { render } from 'preact';
import { Api } from './api.ts';
import { Course } from './course.tsx';
import { Ended } from './notes.tsx';
import { enter, tabKeeper } from './session.ts';
import './style.css';

const { session, shown } = enter(
  new URL(location.href),
  tabKeeper(() => sessionStorage),
);
history.replaceState(null, '', shown);

const root = document.querySelector('#app');
if (root) render(session ? <Course api={new Api(session)} /> : <Ended />, root);
