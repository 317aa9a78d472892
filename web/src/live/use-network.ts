import { useEffect, useState } from 'preact/hooks';
import { type NetworkState, networkWatch } from '../live/network-watch.js';

/** The state of the network; the component is drawn again when it changes. */
export function useNetwork(): NetworkState {
  const [state, setState] = useState(networkWatch.state);
  useEffect(() => {
    setState(networkWatch.state);
    return networkWatch.listen(setState);
  }, []);
  return state;
}
