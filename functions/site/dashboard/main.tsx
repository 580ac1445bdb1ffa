import { render } from 'preact';
import { App } from './app.tsx';
import { takeLink, watchLinks } from './state/opened-link.ts';
import './styles.css';

const opened = takeLink();
watchLinks();
const root = document.getElementById('app');
if (root) render(<App opened={opened} />, root);
