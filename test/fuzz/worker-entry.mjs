// A worker thread does not inherit the TypeScript loader of the process; it registers its own.
import { register } from 'tsx/esm/api';

register();
await import('./worker.js');
