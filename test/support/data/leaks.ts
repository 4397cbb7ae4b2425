/** An element of a document, as a script makes it. */
const element = (tag: string, properties: string): string =>
  `document.body.append(Object.assign(document.createElement('${tag}'), { ${properties} }));`;
const link = (rel: string, more = ''): string => element('link', `rel: '${rel}', href: address, ${more}`);
const clicked = (properties: string): string => `Object.assign(document.createElement('a'), { ${properties} }).click();`;
const worker = (script: string): string =>
  `new Worker(URL.createObjectURL(new Blob([\`${script}\`], { type: 'text/javascript' })));`;

/** Ways by which a script sends something to an `address` of its choice, by name. */
export const LEAKS: Readonly<Record<string, string>> = {
  lookup: link('dns-prefetch'),
  preconnect: link('preconnect'),
  prefetch: link('prefetch'),
  preload: link('preload', `as: 'image'`),
  modulepreload: link('modulepreload'),
  stylesheet: link('stylesheet'),
  'import-of-a-style': element('style', `textContent: '@import url(' + address + ')'`),
  'image-of-a-style': `document.body.style.backgroundImage = 'url(' + address + ')';`,
  font: `new FontFace('x', 'url(' + address + ')').load().catch(() => undefined);`,
  image: element('img', 'src: address'),
  'image-of-svg': `document.body.insertAdjacentHTML('beforeend', '<svg><image href="' + address + '"/></svg>');`,
  video: element('video', `preload: 'auto', src: address`),
  object: element('object', 'data: address'),
  embed: element('embed', 'src: address'),
  iframe: element('iframe', 'src: address'),
  script: element('script', 'src: address'),
  import: 'import(address).catch(() => undefined);',
  fetch: `fetch(address, { mode: 'no-cors' }).catch(() => undefined);`,
  keepalive: `fetch(address, { mode: 'no-cors', method: 'POST', body: 'x', keepalive: true }).catch(() => undefined);`,
  request: `{
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.send();
  }`,
  beacon: `navigator.sendBeacon(address, 'x');`,
  events: 'new EventSource(address);',
  socket: `new WebSocket(address.replace('http', 'ws'));`,
  'fetch-of-a-worker': worker(`fetch('\${address}', { mode: 'no-cors' })`),
  'import-of-a-worker': worker(`importScripts('\${address}')`),
  worklet: 'new AudioContext().audioWorklet.addModule(address).catch(() => undefined);',
  transport: `new WebTransport(address.replace('http', 'https')).ready.catch(() => undefined);`,
  webrtc: `(async () => {
    const { host } = new URL(address);
    const server = { urls: ['stun:' + host, 'turn:' + host + '?transport=tcp'], username: 'x', credential: 'x' };
    const peer = new RTCPeerConnection({ iceServers: [server] });
    peer.createDataChannel('x');
    await peer.setLocalDescription(await peer.createOffer());
  })().catch(() => undefined);`,
  ping: clicked(`href: '#here', ping: address`),
  download: clicked(`href: address, download: ''`),
  popup: 'open(address);',
  form: `{
    const form = Object.assign(document.createElement('form'), { action: address, method: 'post' });
    document.body.append(form);
    form.submit();
  }`,
  top: 'top.location = address;',
  refresh: element('meta', `httpEquiv: 'refresh', content: '0; ' + address`),
  location: 'location = address;',
};

/** The ways that take a frame to another address. */
export const LEAVING: ReadonlySet<string> = new Set(['download', 'refresh', 'location']);
