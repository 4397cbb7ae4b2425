import { endStartUp } from '../../pkg/runtime/start-up-memory.ts';

await import('./operator.ts'); // Resolves once the operator is ready.
endStartUp();
