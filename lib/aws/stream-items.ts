import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { StreamRecord } from 'aws-lambda';
import type { Item } from './items.ts';

/** Decodes an image of an item in a record of a stream. The types of the SDK and of events differ, but the JSON is the same. */
export const streamItem = (image: NonNullable<StreamRecord['NewImage']>): Item =>
  unmarshall(image as Parameters<typeof unmarshall>[0]) as Item;
