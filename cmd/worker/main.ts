import { endStartUp } from '../../pkg/runtime/start-up-memory.ts';

await import('./worker.ts'); // resolves once the worker is ready
endStartUp();
