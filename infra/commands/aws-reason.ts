interface SdkError {
  name: string;
  message: string;
  code?: string;
  $metadata?: object;
}

const UNREACHABLE = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ENETUNREACH', 'ETIMEDOUT'];

/** Explains an error of the AWS SDK in one sentence. `undefined` for other errors. */
export function awsReason(error: unknown): string | undefined {
  const { name, message, code, $metadata } = error as SdkError;
  const reason = String(message).split('\n')[0]?.replace(/\.?$/, '.');
  if (name === 'CredentialsProviderError')
    return message.startsWith('Could not load credentials')
      ? 'There are no AWS credentials. Set AWS_PROFILE, or the variables of the credentials.'
      : reason;
  if (name === 'TokenProviderError') return reason; // such as an expired session
  if (message === 'Region is missing')
    return 'There is no AWS region. Set AWS_REGION, or a region in your AWS profile.';
  if ($metadata === undefined) return undefined;
  if (code !== undefined && UNREACHABLE.includes(code)) return `Cannot reach AWS: ${reason}`;
  return /AccessDenied/.test(name) ? `AWS denied the call. ${reason}` : `AWS rejected the call (${name}): ${reason}`;
}
