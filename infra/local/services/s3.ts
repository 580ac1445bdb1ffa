import type { Template } from '../template.ts';

/** A bucket: text by key. */
export type LocalBucket = Map<string, string>;

/** The buckets of the template, by ARN. */
export function createBuckets(template: Pick<Template, 'ofType' | 'arn'>): ReadonlyMap<string, LocalBucket> {
  return new Map(template.ofType('AWS::S3::Bucket').map(({ id }) => [template.arn(id), new Map()]));
}
