// Where benchmarks find it: they also run beside an older commit (BASE), in which it stands here.
export * from '../../support/programs/worker-process.ts';
