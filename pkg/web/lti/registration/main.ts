import '../../design/index.css';
import '../../design/button.css';
import '../entry/style.css';
import { closeAtPlatform } from './close.ts';

const button = document.querySelector<HTMLButtonElement>('#close');
button?.addEventListener('click', () => {
  if (!closeAtPlatform<Window>(window as Window & { parent: Window; opener: Window | null })) window.close();
});
