import type { Template } from '../template.ts';
import type { Route } from './routes.ts';

/** Requests per second and a burst, as a token bucket (API Gateway Developer Guide, "Throttle requests to your REST APIs"). */
interface Throttle {
  RateLimit: number;
  BurstLimit: number;
}

interface MethodSetting {
  ResourcePath: string;
  HttpMethod: string;
  ThrottlingRateLimit?: number;
  ThrottlingBurstLimit?: number;
}
interface UsagePlanProperties {
  Throttle?: Throttle;
  /** The throttles of methods, such as `/v1/keys/GET`. */
  ApiStages?: { Throttle?: Record<string, Throttle> }[];
}

/**
 * Applies the throttles of the stage and of the usage plan of the template. The clock is in milliseconds. Returns the gateway
 * response to a request over a limit. The usage plan applies to each of its API keys, before the limits of the stage per method
 * (API Gateway Developer Guide, "How throttling limit settings are applied in API Gateway").
 */
export function createThrottles(template: Pick<Template, 'ofType'>, now: () => number) {
  const settings = template
    .ofType<{ MethodSettings?: MethodSetting[] }>('AWS::ApiGateway::Stage')
    .flatMap(({ properties: { MethodSettings = [] } }) => MethodSettings);
  const ofMethods = new Map(settings.map((setting) => [methodOf(setting), setting]));
  const [plan] = template.ofType<UsagePlanProperties>('AWS::ApiGateway::UsagePlan');
  const { Throttle: ofShare, ApiStages = [] } = plan?.properties ?? {};
  const ofShareMethods = new Map(ApiStages.flatMap(({ Throttle = {} }) => Object.entries(Throttle)));
  const keys = keysInPlan(template);
  const buckets = new Map<string, TokenBucket>();
  const takes = (name: string, throttle: Throttle | undefined): boolean => {
    if (!throttle) return true;
    const bucket = buckets.get(name) ?? new TokenBucket(throttle, now());
    buckets.set(name, bucket);
    return bucket.take(now());
  };
  return (
    { resource, method, apiKeyRequired }: Pick<Route, 'resource' | 'method' | 'apiKeyRequired'>,
    apiKey = '',
  ): 'THROTTLED' | 'INVALID_API_KEY' | undefined => {
    const name = `${resource} ${method}`;
    if (apiKeyRequired) {
      if (!keys.has(apiKey)) return 'INVALID_API_KEY';
      if (!takes(`${apiKey} ${name}`, ofShareMethods.get(`${resource}/${method}`))) return 'THROTTLED';
      if (!takes(apiKey, ofShare)) return 'THROTTLED';
    }
    const { ThrottlingRateLimit: RateLimit, ThrottlingBurstLimit: BurstLimit } =
      ofMethods.get(name) ?? ofMethods.get('/* *') ?? {};
    const isLimited = RateLimit !== undefined && BurstLimit !== undefined;
    const isAdmitted = takes(name, isLimited ? { RateLimit, BurstLimit } : undefined);
    return isAdmitted ? undefined : 'THROTTLED';
  };
}

/** `/~1v1~1keys` is `/v1/keys`, `/` is the root, and `/*` is every path. */
const methodOf = ({ ResourcePath: path, HttpMethod: method }: MethodSetting): string =>
  `${path.startsWith('/~1') ? path.slice(1).replaceAll('~1', '/') : path} ${method}`;

/** Returns the values of the API keys in the usage plan. */
function keysInPlan(template: Pick<Template, 'ofType'>): ReadonlySet<string> {
  const members = template.ofType<{ KeyId: string }>('AWS::ApiGateway::UsagePlanKey');
  const ids = new Set(members.map(({ properties }) => properties.KeyId));
  const keys = template.ofType<{ Value: string }>('AWS::ApiGateway::ApiKey').filter(({ id }) => ids.has(id));
  return new Set(keys.map(({ properties }) => properties.Value));
}

/** Holds at most `BurstLimit` tokens, adds `RateLimit` per second, and removes one for each request. */
class TokenBucket {
  private readonly throttle: Throttle;
  private tokens: number;
  private at: number;

  constructor(throttle: Throttle, nowMs: number) {
    this.throttle = throttle;
    this.tokens = throttle.BurstLimit;
    this.at = nowMs;
  }

  take(nowMs: number): boolean {
    const { RateLimit, BurstLimit } = this.throttle;
    this.tokens = Math.min(BurstLimit, this.tokens + (Math.max(0, nowMs - this.at) / 1000) * RateLimit);
    this.at = nowMs;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
