import { Confirm } from '../components/dialog.tsx';
import type { Document } from '../state/api.ts';
import { linkTo, useGoTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { etagOf } from './document-editor.tsx';

/** Deletes the document only if it still has the revision that is shown. */
export function DeleteDocument({ of: document, onClose }: { of: Document; onClose: () => void }) {
  const { call, environment } = useSession();
  const goTo = useGoTo();
  const key = document.document_key;
  const count = Object.keys(document.fields).length;
  const fields = count === 1 ? '1 field' : `${count.toLocaleString()} fields`;
  const remove = async () => {
    const headers = { 'If-Match': etagOf(document) };
    const result = await call('DELETE /v1/documents/{key}', { path: { key }, headers });
    if (result.problem?.code !== 'precondition_failed') return result;
    return { problem: { ...result.problem, detail: 'The document has changed. Close this dialog and open it again.' } };
  };
  return (
    <Confirm
      title="Delete this document?"
      action="Delete document"
      kind="danger"
      act={remove}
      announcement="Document deleted."
      onDone={() => goTo(linkTo(environment, ['documents'], { prefix: key.split(':').slice(0, -1).join(':') }))}
      onClose={onClose}
    >
      <p>
        <strong class="break">{key}</strong> and its {fields} are deleted, for everyone who syncs it. Subscribed
        webhooks are notified. This cannot be undone.
      </p>
    </Confirm>
  );
}
