import { STATUS_CODES } from 'node:http';
import { ADVICE } from '../../../../lib/api/openapi/advice.ts';
import { FAILURES } from '../../../../lib/deliveries/failure-codes.ts';
import { PROBLEMS, type ProblemCode } from '../../../../lib/http/problems.ts';
import type { Article } from './guides.ts';
import { inline } from './html.ts';

/** `/docs/errors`. Every code has its own anchor, which the `type` of a problem document points to. */
export function errors(): Article {
  const problems = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => `<section id="${code}">
<h2><a href="#${code}"><code>${code}</code></a> <small>${status}</small></h2>
<!-- search: ${status} ${STATUS_CODES[status]}, ${title} -->
<p><strong>${title}.</strong> ${inline(ADVICE[code as ProblemCode])}</p>
</section>`,
  );
  const failures = Object.entries(FAILURES).map(
    ([code, meaning]) => `<dt id="${code}"><code>${code}</code></dt>\n<dd>${inline(meaning)}</dd>`,
  );
  const html = `<h1>Errors</h1>
<p>Errors are problem documents (RFC 9457). Match on <code>code</code>, which is stable. <code>detail</code> says what to do.
If you contact the operator, include the <code>request_id</code>.</p>
${problems.join('\n')}
<section id="delivery-failures">
<h2><a href="#delivery-failures">Delivery failures</a></h2>
<p>The <code>error</code> of a delivery attempt is one of these codes. Its <code>error_reason</code> names the cause.
<a href="troubleshooting#the-delivery-failed">Troubleshooting</a> has the fixes, also for <a href="troubleshooting#causes">each cause</a>.</p>
<dl class="members">
${failures.join('\n')}
</dl>
</section>`;
  return { name: 'errors', title: 'Errors', html };
}
