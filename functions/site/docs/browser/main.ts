import './styles.css';
import { addCopyButtons } from './copy.ts';
import { addSearch } from './search.ts';
import { addTabs } from './tabs.ts';
import { addForms } from './try.ts';

// Pages work without this program. It adds the features that need a script.
addTabs();
addCopyButtons();
addForms();
addSearch();

// Shows the sections of the open page in a long navigation, without scrolling the page.
const pages = document.querySelector<HTMLElement>('.pages');
const current = pages?.querySelector<HTMLElement>('[aria-current]');
if (pages && current) pages.scrollTop = current.offsetTop - pages.clientHeight / 3;

// Collapses the navigation on a phone.
const navigation = document.querySelector<HTMLDetailsElement>('.pages details');
if (navigation && matchMedia('(max-width: 60rem)').matches) navigation.open = false;
