import type { TestBrowser } from './chromium.ts';

/** A film of 320 × 180 points and about a second (WebM, VP8), as a browser records it from a canvas. */
export async function film(browser: TestBrowser): Promise<Buffer> {
  const page = await browser.page();
  const encoded = await page.evaluate<string>(`(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 180 });
    const drawing = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: 'video/webm;codecs=vp8' });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    const ended = new Promise((end) => (recorder.onstop = end));
    recorder.start();
    for (let frame = 0; frame < 45; frame += 1) {
      drawing.fillStyle = 'hsl(' + frame * 8 + ' 80% 50%)';
      drawing.fillRect(0, 0, 320, 180);
      await new Promise(requestAnimationFrame);
    }
    recorder.stop();
    await ended;
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  })()`);
  await page.close();
  return Buffer.from(encoded, 'base64');
}
