import type { Abuse } from './abuse.js';
import { hostileBodies } from './bodies.js';
import { hostileEmulation } from './emulation.js';
import { floods } from './floods.js';
import { largeAnswers } from './large-answers.js';
import { hostileServices } from './services.js';
import { hostileSockets } from './sockets.js';
import { hostileStreams } from './streams.js';

/** Everything that is tried. */
export const allAbuses: readonly Abuse[] = [
  ...largeAnswers,
  ...hostileBodies,
  ...hostileSockets,
  ...hostileEmulation,
  ...hostileStreams,
  ...hostileServices,
  ...floods,
];
