import { Drawer } from '../components/drawer.tsx';
import type { Opening } from '../components/table.tsx';
import { closeOver, linkTo, openOver, replaceBy } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { DeliveryContent, useDelivery } from './delivery.tsx';

/** A list of deliveries. Which one is open is part of the URL. */
export interface DeliveryList {
  /** The key of the open delivery, or an empty text. */
  open: string;
  /** The link to the list with one delivery open, or with none. */
  at: (open: string) => string;
}

export const openingOf = ({ open, at }: DeliveryList): Opening => ({ open, onOpen: (key) => openOver(at(key)) });

interface DrawerProps {
  webhookId: string;
  eventId: string;
  list: DeliveryList;
  /** The ids of the listed deliveries, in their order. */
  keys: readonly string[];
  /** Called when the list may have changed. */
  onChange: () => void;
}

/** A delivery next to the list that contains it. */
export function DeliveryDrawer({ webhookId, eventId, list: { open, at }, keys, onChange }: DrawerProps) {
  const { environment } = useSession();
  const loaded = useDelivery(webhookId, eventId);
  const index = keys.indexOf(open);
  const opener = (key: string | undefined) => (key === undefined ? undefined : () => replaceBy(at(key)));
  return (
    <Drawer
      title={loaded.event.value?.type ?? 'Delivery'}
      of={open}
      href={linkTo(environment, ['webhooks', webhookId, 'deliveries', eventId])}
      onPrevious={opener(keys[index - 1])}
      onNext={opener(index < 0 ? undefined : keys[index + 1])}
      onClose={() => closeOver(at(''))}
    >
      <DeliveryContent of={loaded} onChange={onChange} />
    </Drawer>
  );
}
