import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

/** Creates a customer-managed key for the table and the queues, if the settings require one. The default is a key of AWS. */
export function createKey(scope: Construct, { encryption }: Settings): Key | undefined {
  if (encryption !== 'customer') return undefined;
  const key = new Key(scope, 'Key', { enableKeyRotation: true });
  pinLogicalId(key, 'EncryptionKey');
  return key;
}

/** Allows reading and writing encrypted items and messages with a customer-managed key. */
export function grantKey(key: Key | undefined, grantee: IGrantable): void {
  key?.grant(grantee, 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:DescribeKey');
}
