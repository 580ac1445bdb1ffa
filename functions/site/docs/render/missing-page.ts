import type { Article } from './guides.ts';

/** Browsers show this page for a path below `/docs/` that does not exist. */
export const missingPage: Article = {
  name: 'missing',
  title: 'Page not found',
  html: `<h1>Page not found</h1>
<p>This documentation has no page at this address. Search for it above, or start with one of these pages:</p>
<ul>
<li><a href="quickstart">Quickstart</a></li>
<li><a href="receiving">Receive webhooks</a></li>
<li><a href="errors">Errors</a></li>
<li><a href="api-webhooks">Webhooks API</a></li>
</ul>`,
};
