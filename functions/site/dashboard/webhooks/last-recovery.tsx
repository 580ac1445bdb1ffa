import { Time } from '../components/time.tsx';
import { useRepeated } from '../state/hooks.ts';
import { useRead } from '../state/session.ts';
import { resultText } from './recovery-result.tsx';

const REFRESH_MS = 30_000;

/** The result of the last recovery of a webhook, if there was one. */
export function LastRecovery({ of: id, version }: { of: string; version: number }) {
  const read = useRead('GET /v1/webhooks/{id}/recover', { path: { id } }, version);
  useRepeated(REFRESH_MS, read);
  const recovery = read.value?.recovery;
  if (!recovery) return null;
  return (
    <p class="muted">
      {recovery.ended_at === null ? 'Recovery since ' : 'Last recovery, '}
      <Time at={recovery.started_at} />: {resultText(recovery)}.
    </p>
  );
}
