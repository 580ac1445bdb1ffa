import { InvalidRequest } from '../models/invalid-request.ts';
import type { Template } from '../template.ts';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';

/** The texts in a bucket by key. */
export type LocalBucket = Map<string, string>;

/** The buckets of the template, by ARN. */
export function createBuckets(template: Pick<Template, 'ofType' | 'arn'>): ReadonlyMap<string, LocalBucket> {
  return new Map(template.ofType('AWS::S3::Bucket').map(({ id }) => [template.arn(id), new Map()]));
}

/** Implements `PutObject`, the only S3 operation that functions use. The path is `/bucket/key`. */
export function s3Service(buckets: ReadonlyMap<string, LocalBucket>, iam: LocalIam): Service {
  return ({ method, path, principal, body }) => {
    const [, name = '', key = ''] = /^\/([^/]+)\/([^?]+)/.exec(path) ?? [];
    const arn = `arn:aws:s3:::${name}`;
    const bucket = buckets.get(arn);
    if (method !== 'PUT') throw new ServiceError('NotImplemented', 'The local S3 supports only PutObject', 501);
    if (!key) throw new InvalidRequest('The path must contain a bucket and a key', 'InvalidRequest');
    if (!bucket) throw new ServiceError('NoSuchBucket', `There is no bucket ${name}`, 404);
    const object = decodeURIComponent(key);
    iam.require(principal, 's3:PutObject', `${arn}/${object}`);
    bucket.set(object, body);
    return { body: '' };
  };
}
