// Serves a recorded chain whose head stands at a block until it is told to move on. Arguments: folder, seqno, blocks a second.
import process from 'node:process';
import { recordedNetwork } from '../../test/sim/recorded-network.js';

const [folder, from, perSecond] = process.argv.slice(2);
const network = await recordedNetwork(folder!);
await network.restart(Number(from));
process.on('message', () => network.follow(Number(perSecond)));
process.on('disconnect', () => void network.close().then(() => process.exit()));
process.send!(network.config);
