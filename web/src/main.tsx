import './chain/browser-buffer.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/trace.css';
import { render } from 'preact';
import { App } from './app.js';
import { networkWatch } from './live/network-watch.js';
import { applyTheme } from './parts/theme.js';

applyTheme();
networkWatch.start();
render(<App />, document.getElementById('page')!);
