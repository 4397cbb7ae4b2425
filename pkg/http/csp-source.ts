/** An address of numbers. CSP matches none of these as a source, but 127.0.0.1 (CSP Level 3, §6.7.2.8). */
const NUMBERS = /^(?:\[|(?!127\.0\.0\.1(?::|$))\d+\.\d+\.\d+\.\d+(?::|$))/;

/**
 * Returns the CSP source of the build's scripts, styles and fonts, for a page that was requested under `host` (with its port).
 * 'self' would be wider: what people upload is downloaded from this origin too, as any media type. The source has no scheme, so
 * it has that of the page. Under an address of numbers it is 'self'.
 */
export const cspSourceOfBuild = (host: string): string => (NUMBERS.test(host) ? "'self'" : `${host}/assets/`);
