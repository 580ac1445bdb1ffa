import { join } from 'node:path';
import * as v from 'valibot';
import { readJsonFile } from '../json-file.ts';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

export interface Resource<Properties = Record<string, unknown>> {
  id: string;
  type: string;
  properties: Properties;
}

const Manifest = v.object({
  artifacts: v.record(
    v.string(),
    v.object({ type: v.string(), properties: v.optional(v.object({ templateFile: v.optional(v.string()) })) }),
  ),
});
const RawResource = v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown())) });
const TemplateFile = v.object({ Resources: v.record(v.string(), RawResource) });

/** The addresses of resources on this machine. */
export interface Places {
  /** The base of queue URLs. */
  queuesUrl: string;
  /** A prefix that separates the tables of several stacks on one database. */
  tablePrefix: string;
  /** The URL of the API on this machine. */
  baseUrl: string;
  /** The base of bucket URLs. */
  bucketsUrl?: string;
}

const PSEUDO: Record<string, string> = {
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** A synthesized template whose references are resolved to resources on this machine. */
export class Template {
  private readonly raw: v.InferOutput<typeof TemplateFile>['Resources'];
  readonly directory: string;
  private readonly places: Places;

  constructor(directory: string, places: Places) {
    this.directory = directory;
    this.places = places;
    const remedy = `Delete ${directory}.`;
    const { artifacts } = readJsonFile(join(directory, 'manifest.json'), Manifest, remedy);
    const stack = Object.values(artifacts).find(({ type }) => type === 'aws:cloudformation:stack');
    const path = join(directory, stack?.properties?.templateFile ?? '');
    this.raw = readJsonFile(path, TemplateFile, remedy).Resources;
  }

  ofType<Properties = Record<string, unknown>>(type: string): Resource<Properties>[] {
    return Object.entries(this.raw)
      .filter(([, resource]) => resource.Type === type)
      .map(([id]) => this.resource<Properties>(id));
  }

  resource<Properties = Record<string, unknown>>(id: string): Resource<Properties> {
    const raw = this.raw[id];
    if (!raw) throw new Error(`The template has no resource ${id}`);
    const properties = this.resolve(raw.Properties ?? {}) as Properties;
    return { id, type: raw.Type, properties };
  }

  /** Returns the value of `Ref`, which is the name, or the URL for a queue. */
  ref(id: string): string {
    if (id in PSEUDO) return PSEUDO[id] as string;
    const type = this.raw[id]?.Type;
    if (type === 'AWS::SQS::Queue') return `${this.places.queuesUrl}/${ACCOUNT}/${id}`;
    if (type === 'AWS::DynamoDB::Table') return `${this.places.tablePrefix}${id}`;
    if (type === 'AWS::EC2::EIP') return '127.0.0.1'; // where local deliveries come from
    if (type === 'AWS::ApiGateway::Stage') return String(this.resource(id).properties.StageName);
    return id;
  }

  arn(id: string): string {
    const name = this.ref(id);
    const of = (service: string, resource: string, region = REGION) =>
      `arn:aws:${service}:${region}:${ACCOUNT}:${resource}`;
    switch (this.raw[id]?.Type) {
      case 'AWS::SQS::Queue':
        return of('sqs', id);
      case 'AWS::S3::Bucket':
        return `arn:aws:s3:::${name}`;
      case 'AWS::DynamoDB::Table':
        return of('dynamodb', `table/${name}`);
      case 'AWS::Lambda::Function':
        return of('lambda', `function:${name}`);
      case 'AWS::IAM::Role':
        return of('iam', `role/${name}`, '');
      case 'AWS::Scheduler::ScheduleGroup':
        return of('scheduler', `schedule-group/${name}`);
      default:
        return of('local', name);
    }
  }

  /** Replaces intrinsic functions by their values. Unknown ones remain, because a property that this stack does not use can contain them. */
  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.resolve(each));
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = ['', undefined], ...more] = Object.entries(value);
    if (more.length === 0) {
      if (name === 'Ref') return this.ref(String(argument));
      if (name === 'Fn::GetAtt') return this.attribute(argument as [string, string]);
      if (name === 'Fn::Join') return this.join(argument as [string, unknown[]]);
      if (name === 'Fn::Select') return this.select(argument as [number | string, unknown]);
      if (name === 'Fn::Split') return this.split(argument as [string, unknown]);
      if (name === 'Fn::Sub') return String(argument).replace(/\$\{([\w:]+)\}/g, (_, id) => this.ref(id));
    }
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.resolve(each)]));
  }

  private attribute([id, name]: [string, string]): string {
    if (name === 'Arn') return this.arn(id);
    if (name === 'StreamArn') return `${this.arn(id)}/stream/local`;
    if (name === 'QueueName') return id;
    if (name === 'RegionalDomainName') return `${id}.s3.${REGION}.amazonaws.com`;
    if (name === 'RootResourceId') return `${id}.root`;
    return `${id}.${name}`;
  }

  private select([index, list]: [number | string, unknown]): unknown {
    return (this.resolve(list) as unknown[])[Number(index)];
  }

  private split([separator, text]: [string, unknown]): string[] {
    return String(this.resolve(text)).split(separator);
  }

  private join([separator, parts]: [string, unknown[]]): string {
    const joined = parts.map((part) => this.resolve(part)).join(separator);
    return joined
      .replace(/https:\/\/\w+\.execute-api\.[\w-]+\.amazonaws\.com\/\w+/, this.places.baseUrl)
      .replace(/https:\/\/(\w+)\.s3\.[\w-]+\.amazonaws\.com/, `${this.places.bucketsUrl}/$1`);
  }
}
