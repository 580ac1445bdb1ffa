import './styles.css';
import { addCopyButtons } from './copy.ts';
import { addSearch } from './search.ts';
import { addTabs } from './tabs.ts';
import { addForms } from './try.ts';

// Every page is whole without this: it adds what needs a script.
addTabs();
addCopyButtons();
addForms();
addSearch();

// A phone has no room for the navigation beside the page.
const navigation = document.querySelector<HTMLDetailsElement>('.pages details');
if (navigation && matchMedia('(max-width: 60rem)').matches) navigation.open = false;
