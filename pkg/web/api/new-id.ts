/**
 * Returns a random id of 128 bits, in hexadecimal digits. Browsers have `crypto.randomUUID` only over https and on this machine,
 * and a tenant may be served by plain http.
 */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
