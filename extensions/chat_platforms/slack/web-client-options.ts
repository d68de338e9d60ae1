import type { SlackAdapterConfig } from '@chat-adapter/slack'
import type { ExtensionLogger } from 'troupe/extension'

type Options = NonNullable<SlackAdapterConfig['webClientOptions']>

/** The kernel gives a call ten seconds, and repeats it. */
const timeoutMs = 8_000

/** The client would repeat calls for half an hour, wait for limits of the rate, and write to the console. */
export function webClientOptions(logger: ExtensionLogger): Options {
  const log = (...parts: readonly unknown[]): void => logger.debug(`slack: ${parts.filter((part) => typeof part === 'string').join(' ')}`)
  return {
    timeout: timeoutMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: { debug: () => {}, info: log, warn: log, error: log, setLevel: () => {}, getLevel: () => 'info' as never, setName: () => {} },
  }
}
