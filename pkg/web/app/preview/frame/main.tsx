import { render } from 'preact';
import '../../../design/index.css';
import { speak, textsLoaded } from '../../../text/language.ts';
import { FIND, type FileMessage, PAGE_KEYS, type ToFrame, type ToPage } from './protocol.ts';
import './frame.css';

// Of WebRTC no policy says anything in browsers that do not know `Connection-Allowlist` (pkg/http/preview-frame.ts).
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) Reflect.deleteProperty(globalThis, name);

/** The origin of the page around the frame; that of the frame itself is opaque. */
const PAGE = location.origin;
const say = (message: ToPage): void => parent.postMessage(message, PAGE);
const root = document.querySelector('#app');

async function show({ kind, name, bytes, language, theme, contrast }: FileMessage): Promise<void> {
  if (!root) return;
  const html = document.documentElement;
  html.lang = language;
  if (theme !== undefined) html.dataset['theme'] = theme;
  if (contrast !== undefined) html.dataset['contrast'] = contrast;
  await speak(language);
  const onLink = (href: string): void => say({ type: 'link', href });
  const onShown = (): void => say({ type: 'shown' });
  if (kind === 'markdown') {
    const { Markdown } = await import('./markdown.tsx');
    await textsLoaded();
    render(<Markdown text={new TextDecoder().decode(bytes)} onLink={onLink} />, root);
    onShown();
  } else {
    const { Pdf } = await import('./pdf.tsx');
    await textsLoaded();
    render(<Pdf name={name} bytes={bytes} needs={needs} onLink={onLink} onShown={onShown} onBroken={broken} />, root);
  }
}

const broken = (): void => say({ type: 'broken' });

const waiting = new Map<string, (bytes: ArrayBuffer | null) => void>();

/** Asks the page for a part of pdf.js. */
const needs = (name: string): Promise<ArrayBuffer | null> =>
  new Promise((give) => {
    waiting.set(name, give);
    say({ type: 'needs', name });
  });

addEventListener('message', ({ source, data }: MessageEvent<ToFrame>) => {
  if (source !== parent) return;
  if (data.type === 'file') show(data).catch(broken);
  else if (data.type === 'find') dispatchEvent(new Event(FIND));
  else waiting.get(data.name)?.(data.bytes);
});

// Keys of the preview work here too, but where something wider than the window scrolls by arrows, or somebody types.
addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !PAGE_KEYS.has(key)) return;
  const focused = target as Element;
  if (key !== 'Escape' && focused.matches('input')) return;
  if (key.startsWith('Arrow') && focused.scrollWidth > focused.clientWidth && focused.matches('[tabindex]')) return;
  event.preventDefault();
  say({ type: 'key', key });
});

say({ type: 'ready' });
