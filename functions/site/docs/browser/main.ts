import './styles.css';
import { addCopyButtons } from './copy.ts';
import { addSearch } from './search.ts';
import { addTabs } from './tabs.ts';
import { addForms } from './try.ts';

// Pages work without this program. It adds the features that need a script. It runs after the first paint, so it must not move content:
// styles reserve the place of what it adds.
addTabs();
addCopyButtons();
addForms();
addSearch();

// Shows the sections of the open page in a long navigation, without scrolling the page.
const pages = document.querySelector<HTMLElement>('.pages');
const current = pages?.querySelector<HTMLElement>('[aria-current]');
if (pages && current) pages.scrollTop = current.offsetTop - pages.clientHeight / 3;
