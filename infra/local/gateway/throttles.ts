import type { Template } from '../template.ts';
import type { Route } from './routes.ts';

/**
 * Rate in requests per second and burst, as a token bucket (API Gateway Developer Guide, "Throttle requests to your REST APIs").
 */
interface Throttle {
  rate: number;
  burst: number;
}

interface MethodSetting {
  ResourcePath: string;
  HttpMethod: string;
  ThrottlingRateLimit?: number;
  ThrottlingBurstLimit?: number;
}
interface UsagePlanThrottle {
  RateLimit: number;
  BurstLimit: number;
}
interface UsagePlanProperties {
  Throttle?: UsagePlanThrottle;
  /** The throttles of methods, such as `/v1/keys/GET`. */
  ApiStages?: { Throttle?: Record<string, UsagePlanThrottle> }[];
}
/** The throttles of an API key: for each of some methods, and for all methods together. */
interface KeyThrottles {
  ofMethods: Map<string, Throttle>;
  ofAll: Throttle | undefined;
}

/**
 * Applies the throttles of the stage and of the usage plans of the template. The clock is in milliseconds. Returns the gateway
 * response to a request over a limit. The usage plan of the API key applies before the limits of the stage, which are per method
 * (API Gateway Developer Guide, "How throttling limit settings are applied in API Gateway").
 */
export function createThrottles(template: Pick<Template, 'ofType'>, now: () => number) {
  const settings = template
    .ofType<{ MethodSettings?: MethodSetting[] }>('AWS::ApiGateway::Stage')
    .flatMap(({ properties: { MethodSettings = [] } }) => MethodSettings);
  const ofMethods = new Map(settings.map((setting) => [methodOf(setting), setting]));
  const ofKeys = throttlesOfKeys(template);
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
    if (apiKeyRequired && !ofKeys.has(apiKey)) return 'INVALID_API_KEY';
    const name = `${resource} ${method}`;
    if (apiKeyRequired && !takes(`${apiKey} ${name}`, ofKeys.get(apiKey)?.ofMethods.get(name))) return 'THROTTLED';
    if (apiKeyRequired && !takes(apiKey, ofKeys.get(apiKey)?.ofAll)) return 'THROTTLED';
    const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } =
      ofMethods.get(name) ?? ofMethods.get('/* *') ?? {};
    const isAdmitted = takes(name, rate === undefined || burst === undefined ? undefined : { rate, burst });
    return isAdmitted ? undefined : 'THROTTLED';
  };
}

/** `/~1v1~1keys` is `/v1/keys`, `/` is the root, and `/*` is every path. */
const methodOf = ({ ResourcePath: path, HttpMethod: method }: MethodSetting): string =>
  `${path.startsWith('/~1') ? path.slice(1).replaceAll('~1', '/') : path} ${method}`;

/** Returns the throttles of every API key in a usage plan, by the value of the key. */
function throttlesOfKeys(template: Pick<Template, 'ofType'>): Map<string, KeyThrottles> {
  const plans = new Map(
    template.ofType<UsagePlanProperties>('AWS::ApiGateway::UsagePlan').map(({ id, properties }) => [id, properties]),
  );
  const values = new Map(
    template.ofType<{ Value: string }>('AWS::ApiGateway::ApiKey').map(({ id, properties }) => [id, properties.Value]),
  );
  const members = template.ofType<{ KeyId: string; UsagePlanId: string }>('AWS::ApiGateway::UsagePlanKey');
  return new Map(
    members.map(({ properties: { KeyId, UsagePlanId } }) => {
      const { Throttle, ApiStages = [] } = plans.get(UsagePlanId) ?? {};
      const methods = ApiStages.flatMap((stage) => Object.entries(stage.Throttle ?? {}));
      const ofMethods = new Map(
        methods.map(([path, limits]) => [path.replace(/\/(?=[A-Z]+$)/, ' '), throttleOf(limits)]),
      );
      return [values.get(KeyId) ?? KeyId, { ofMethods, ofAll: Throttle && throttleOf(Throttle) }];
    }),
  );
}

const throttleOf = ({ RateLimit: rate, BurstLimit: burst }: UsagePlanThrottle): Throttle => ({ rate, burst });

/** Holds at most `burst` tokens, adds `rate` per second, and removes one for each request. */
class TokenBucket {
  private readonly throttle: Throttle;
  private tokens: number;
  private at: number;

  constructor(throttle: Throttle, nowMs: number) {
    this.throttle = throttle;
    this.tokens = throttle.burst;
    this.at = nowMs;
  }

  take(nowMs: number): boolean {
    const { rate, burst } = this.throttle;
    this.tokens = Math.min(burst, this.tokens + (Math.max(0, nowMs - this.at) / 1000) * rate);
    this.at = nowMs;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
