import { endStartUp } from '../../pkg/runtime/start-up-memory.ts';

await import('./worker.ts'); // Resolves once the worker is ready.
endStartUp();
