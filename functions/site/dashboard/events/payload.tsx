import { Button, Panel } from '../components/basics.tsx';
import { CopyButton } from '../components/copyable.tsx';
import { download } from '../components/download.ts';
import { Json } from '../components/json.tsx';

/** Shows an event to read and copy. The downloaded file contains the exact bytes that every attempt sends. */
export function Payload({ of: event }: { of: { id: string } }) {
  return (
    <Panel
      title="Payload"
      actions={
        <>
          <CopyButton text={JSON.stringify(event, null, 2)} label="Copy payload">
            Copy
          </CopyButton>
          <Button
            onClick={() => download(`${event.id}.json`, JSON.stringify(event), 'application/json')}
            label="Download payload"
          >
            Download
          </Button>
        </>
      }
    >
      <Json value={event} label="Payload" />
    </Panel>
  );
}
