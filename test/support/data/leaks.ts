/** A way by which a script sends something to an `address` of its choice, where nothing holds it back. */
export interface Leak {
  /** Statements that see `address`. */
  readonly script: string;
  /** What arrives: a connection, a datagram, or nothing but a name that the browser looks up. */
  readonly by: 'tcp' | 'udp' | 'lookup';
  /** What goes to the address: the frame, which an error then takes the place of if it may not, or the page around it. */
  readonly moves?: 'frame' | 'page';
}

const byTcp = (script: string): Leak => ({ script, by: 'tcp' });
const byUdp = (script: string): Leak => ({ script, by: 'udp' });
const byLookup = (script: string): Leak => ({ script, by: 'lookup' });
const movingFrame = (script: string): Leak => ({ script, by: 'tcp', moves: 'frame' });
const movingPage = (script: string): Leak => ({ script, by: 'tcp', moves: 'page' });

/** An element of a document, as a script makes it. `properties` is the inside of an object of JavaScript. */
const element = (tag: string, properties: string): string =>
  `document.body.append(Object.assign(document.createElement('${tag}'), { ${properties} }));`;
const link = (rel: string, more = ''): string => element('link', `rel: '${rel}', href: address, ${more}`);
/** Markup in which `ADDRESS` stands for the address. */
const markup = (html: string): string => `${JSON.stringify(html)}.replace('ADDRESS', address)`;
const inserted = (html: string): string => `document.body.insertAdjacentHTML('beforeend', ${markup(html)});`;
const framed = (html: string): string => element('iframe', `srcdoc: ${markup(html)}`);
const clicked = (properties: string): string =>
  `{
    const link = Object.assign(document.createElement('a'), { ${properties} });
    document.body.append(link);
    link.click();
  }`;
const sent = (properties: string): string =>
  `{
    const form = Object.assign(document.createElement('form'), { action: address, method: 'post', ${properties} });
    document.body.append(form);
    form.submit();
  }`;
const styled = (rule: string): string =>
  `{
    const sheet = new CSSStyleSheet();
    sheet.insertRule(${markup(rule)});
    document.adoptedStyleSheets.push(sheet);
  }`;
const blobOf = (content: string, type: string): string => `URL.createObjectURL(new Blob([${content}], { type: '${type}' }))`;
const worker = (script: string, kind = 'Worker', options = '{}'): string => {
  const whole = `'const address = ' + JSON.stringify(address) + ';' + ${JSON.stringify(script)}`;
  return `new ${kind}(${blobOf(whole, 'text/javascript')}, ${options});`;
};

const FETCH = `fetch(address, { mode: 'no-cors' }).catch(() => undefined);`;
const SOCKET = `new WebSocket(address.replace('http', 'ws'));`;
// By number: of the addresses that a name has, these try one alone.
const TRANSPORT = `new WebTransport('https://127.0.0.1:' + new URL(address).port).ready.catch(() => undefined);`;
const REQUEST = `{
  const request = new XMLHttpRequest();
  request.open('GET', address);
  request.send();
}`;

/** WebRTC that asks a server for its candidates. `server`: an expression of `host` and `port`; `scope` has the constructor. */
const peer = (server: string, scope = 'globalThis'): string => `{
  const { host, port } = new URL(address);
  const peer = new ${scope}.RTCPeerConnection({ iceServers: [{ urls: ${server}, username: 'x', credential: 'x' }] });
  peer.createDataChannel('x');
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}`;
const STUN = `'stun:127.0.0.1:' + port`;
/** A script that sees the window of an empty frame within, which has what the document removed from its own. */
const within = (script: string): string => `{
  const inner = document.createElement('iframe');
  document.body.append(inner);
  const within = inner.contentWindow;
  ${script}
}`;

/**
 * By name. Left out is what does not arrive from a frame that nothing holds back either: `<use>` of SVG and workers of another
 * origin, rules for speculation in a frame, and what only a reply can say (`Link`, reports).
 */
export const LEAKS: Readonly<Record<string, Leak>> = {
  // In advance.
  lookup: byLookup(link('dns-prefetch')),
  'lookup in a frame within': byLookup(framed('<link rel="dns-prefetch" href="ADDRESS">')),
  preconnect: byTcp(link('preconnect')),
  'preconnect by markup': byTcp(inserted('<link rel="preconnect" href="ADDRESS">')),
  'preconnect in a frame within': byTcp(framed('<link rel="preconnect" href="ADDRESS">')),
  prefetch: byTcp(link('prefetch')),
  preload: byTcp(link('preload', `as: 'image'`)),
  'preload of a font': byTcp(link('preload', `as: 'font', crossOrigin: ''`)),
  'preload of data': byTcp(link('preload', `as: 'fetch', crossOrigin: ''`)),
  modulepreload: byTcp(link('modulepreload')),
  dictionary: byTcp(link('compression-dictionary')),

  // Styles.
  stylesheet: byTcp(link('stylesheet')),
  'style that imports': byTcp(element('style', `textContent: '@import url(' + address + ')'`)),
  'style with a picture': byTcp(`document.body.style.backgroundImage = 'url(' + address + ')';`),
  'rule with a picture': byTcp(styled('body { list-style-image: url(ADDRESS); display: list-item; }')),
  'rule with a font': byTcp(
    `${styled('@font-face { font-family: stolen; src: url(ADDRESS); }')} document.fonts.load('1em stolen');`,
  ),
  'style as a module': byTcp(`import(address, { with: { type: 'css' } }).catch(() => undefined);`),
  font: byTcp(`new FontFace('x', 'url(' + address + ')').load().catch(() => undefined);`),

  // Elements.
  image: byTcp(element('img', 'src: address')),
  'image by its set': byTcp(element('img', `srcset: address + ' 1x'`)),
  'button with an image': byTcp(element('input', `type: 'image', src: address`)),
  background: byTcp('document.body.background = address;'),
  'image of SVG': byTcp(inserted('<svg><image href="ADDRESS"/></svg>')),
  'filter of SVG': byTcp(
    inserted('<svg><filter id="f"><feImage href="ADDRESS"/></filter><rect width="9" height="9" filter="url(#f)"/></svg>'),
  ),
  'script of SVG': byTcp(`{
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const script = document.createElementNS('http://www.w3.org/2000/svg', 'script');
    script.setAttribute('href', address);
    svg.append(script);
    document.body.append(svg);
  }`),
  audio: byTcp(element('audio', `preload: 'auto', src: address`)),
  video: byTcp(element('video', `preload: 'auto', src: address`)),
  poster: byTcp(element('video', 'poster: address')),
  object: byTcp(element('object', 'data: address')),
  embed: byTcp(element('embed', 'src: address')),
  frame: byTcp(element('iframe', 'src: address')),
  'image in a frame within': byTcp(framed('<img src="ADDRESS">')),
  'image in a frame of data': byTcp(element('iframe', `src: 'data:text/html,' + ${markup('<img src="ADDRESS">')}`)),
  'image in a frame of a blob': byTcp(element('iframe', `src: ${blobOf(markup('<img src="ADDRESS">'), 'text/html')}`)),
  'refresh of a frame within': byTcp(framed('<meta http-equiv="refresh" content="0; ADDRESS">')),

  // Scripts.
  script: byTcp(element('script', 'src: address')),
  module: byTcp(element('script', `type: 'module', src: address`)),
  import: byTcp('import(address).catch(() => undefined);'),
  'import map': byTcp(`${element('script', `type: 'importmap', textContent: JSON.stringify({ imports: { stolen: address } })`)}
    import('stolen').catch(() => undefined);`),
  worklet: byTcp('new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule(address).catch(() => undefined);'),
  'worklet that paints': byTcp('CSS.paintWorklet.addModule(address).catch(() => undefined);'),

  // Requests.
  fetch: byTcp(FETCH),
  'fetch that stays': byTcp(
    `fetch(address, { mode: 'no-cors', method: 'POST', body: 'x', keepalive: true }).catch(() => undefined);`,
  ),
  'fetch for later': byTcp('fetchLater(address, { activateAfter: 0 });'),
  'fetch of a frame within': byTcp(within(`within.fetch(address, { mode: 'no-cors' }).catch(() => undefined);`)),
  request: byTcp(REQUEST),
  beacon: byTcp(`navigator.sendBeacon(address, 'x');`),
  events: byTcp('new EventSource(address);'),
  socket: byTcp(SOCKET),
  'socket as a stream': byTcp(`new WebSocketStream(address.replace('http', 'ws')).opened.catch(() => undefined);`),
  transport: byUdp(TRANSPORT),
  ping: byTcp(clicked(`href: '#here', ping: address`)),

  // Workers.
  'fetch of a worker': byTcp(worker(FETCH)),
  'fetch of a worker of a worker': byTcp(worker(worker(FETCH))),
  'fetch of a shared worker': byTcp(worker(FETCH, 'SharedWorker')),
  'request of a worker': byTcp(worker(REQUEST)),
  'import of a worker': byTcp(worker('importScripts(address);')),
  'import of a worker of modules': byTcp(worker('import(address).catch(() => undefined);', 'Worker', `{ type: 'module' }`)),
  'socket of a worker': byTcp(worker(SOCKET)),
  'transport of a worker': byUdp(worker(TRANSPORT)),

  // WebRTC.
  'server of WebRTC': byUdp(peer(STUN)),
  'relay of WebRTC': byTcp(peer(`'turn:' + host + '?transport=tcp'`)),
  'WebRTC of a frame within': byUdp(within(peer(STUN, 'within'))),

  // Navigation.
  popup: byTcp('open(address);'),
  'link to a popup': byTcp(clicked(`href: address, target: '_blank'`)),
  'form to a popup': byTcp(sent(`target: '_blank'`)),
  form: byTcp(sent('')),
  link: movingFrame(clicked('href: address')),
  download: movingFrame(clicked(`href: address, download: ''`)),
  'open in place': movingFrame(`open(address, '_self');`),
  refresh: movingFrame(element('meta', `httpEquiv: 'refresh', content: '0; ' + address`)),
  location: movingFrame('location = address;'),
  navigation: movingFrame('navigation.navigate(address);'),
  top: movingPage('top.location = address;'),
  'link to the top': movingPage(clicked(`href: address, target: '_top'`)),
  'form to the top': movingPage(sent(`target: '_top'`)),
  'open in the top': movingPage(`open(address, '_top');`),
};
