/**
 * The cookies of signing in. Browsers send them to `/auth` only, hide them from scripts, and do not send them with requests that
 * another site begins. Over https their names begin with `__Secure-` (RFC 6265bis §4.1.3.1): a page that came by plain http
 * cannot replace them.
 */
export class SignInCookies {
  readonly #path: string;
  readonly #isSecure: boolean;

  /** `secure`: the tenant's address is https. */
  constructor(options: { basePath: string; secure: boolean }) {
    this.#path = `${options.basePath}/auth`;
    this.#isSecure = options.secure;
  }

  /** Returns a `Set-Cookie` header; 0 seconds deletes the cookie. */
  set(name: string, value: string, seconds: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#nameOf(name)}=${value}; Path=${this.#path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }

  read(header: string | undefined, name: string): string | undefined {
    return valueOf(header, this.#nameOf(name));
  }

  #nameOf(name: string): string {
    return this.#isSecure ? `__Secure-${name}` : name;
  }
}

const valueOf = (header: string | undefined, name: string): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
