// Where the sources run, not the build: a worker thread does not inherit the TypeScript loader of the process.
import { register } from 'tsx/esm/api';

register();
await import('./thread-main.js');
