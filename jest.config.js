const lane = (name, testMatch, more = {}) => ({
  displayName: name,
  testMatch,
  testEnvironment: 'node',
  testRunner: '<rootDir>/hack/jest/native-modules.mjs',
  transform: {},
  ...more,
});

const onRealParts = {
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

const onThePlatform = {
  globalSetup: '<rootDir>/test/support/e2e-setup.mjs',
  globalTeardown: '<rootDir>/test/support/e2e-teardown.mjs',
};

/**
 * Unit tests stand beside the code and need nothing; integration shares one start of the real back ends, e2e one `carrel up`
 * (test/support). test/faults runs in the integration lane in its short form; `make faults` is the same in its long one.
 */
export default {
  projects: [
    lane('unit', ['<rootDir>/{pkg,cmd,hack}/**/*.test.ts']),
    lane('integration', ['<rootDir>/test/{integration,faults}/**/*.test.ts'], onRealParts),
    lane('e2e', ['<rootDir>/test/e2e/**/*.test.ts'], onThePlatform),
  ],
  reporters: ['default', '<rootDir>/hack/jest/end-of-lanes.ts'],
  testSequencer: '<rootDir>/hack/test-sequencer.ts',
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.carrel'],
  // Two more than the cores that CI has: while some wait for back ends, others compute.
  maxWorkers: 4,
  // A worker keeps some of what each file imported, and its process takes two to three times this heap, beside the buffers of its
  // tests: at 1 GB, the workers and the programs that they start once took all of 24 GiB.
  workerIdleMemoryLimit: '512MB',
  // What waits for a condition has a shorter limit of its own. A test that computes for half a minute takes some minutes on two
  // slow cores beside others.
  testTimeout: 600_000,
};
