interface SdkError {
  name: string;
  /** Empty for a host with several addresses, none of which responds. */
  message: string;
  /** Node.js sets it if there was no response. */
  code?: string;
  $metadata?: object;
}

/** Explains an error of the AWS SDK in one sentence. `undefined` for other errors. */
export function awsReason(error: unknown): string | undefined {
  const { name, message, code, $metadata } = error as SdkError;
  const reason = String(message || code || name)
    .split('\n')[0]
    ?.replace(/\.?$/, '.');
  if (message === 'Region is missing')
    return 'There is no AWS region. Set AWS_REGION, or a region in your AWS profile.';
  if (/^Region not accepted/.test(message))
    return 'The AWS region is not a name of a region. Correct AWS_REGION, or the region in your AWS profile.';
  if (name === 'CredentialsProviderError' && message.startsWith('Could not load credentials'))
    return 'There are no AWS credentials. Set AWS_PROFILE to a profile that has some, or their variables.';
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') return reason; // such as an expired session
  if ($metadata === undefined) return undefined;
  return code === undefined ? `AWS rejected the call (${name}): ${reason}` : `Cannot reach AWS: ${reason}`;
}
