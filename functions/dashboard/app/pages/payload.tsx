import { Button, Panel } from '../components/basics.tsx';
import { CopyButton } from '../components/copyable.tsx';
import { Json } from '../components/json.tsx';

/** An event to read and to copy; as a file it is what every attempt sends, byte for byte. */
export function Payload({ of: event }: { of: { id: string } }) {
  return (
    <Panel
      title="Payload"
      actions={
        <>
          <CopyButton text={JSON.stringify(event, null, 2)} label="Copy payload">
            Copy
          </CopyButton>
          <Button onClick={() => download(`${event.id}.json`, JSON.stringify(event))} label="Download payload">
            Download
          </Button>
        </>
      }
    >
      <Json value={event} label="Payload" />
    </Panel>
  );
}

/** How long a browser may take until it reads what it downloads. */
const DOWNLOAD_MS = 60_000;

function download(name: string, json: string): void {
  const href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS);
}
