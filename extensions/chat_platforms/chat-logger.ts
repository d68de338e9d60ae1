import type { Logger } from 'chat'
import type { ExtensionLogger } from 'troupe/extension'

/** Chat SDK logs what it does about failures that this extension handles itself: they are details. */
export function chatLogger(logger: ExtensionLogger, name: string): Logger {
  const debug = (message: string, ...details: readonly unknown[]): void =>
    logger.debug([`${name}: ${message}`, ...details.flatMap(textOf)].join(' '))
  return { debug, info: debug, warn: debug, error: debug, child: () => chatLogger(logger, name) }
}

/** Of an error only its message: others have headers with tokens. */
function textOf(detail: unknown): readonly string[] {
  if (detail instanceof Error) return [detail.message]
  if (typeof detail === 'object' && detail !== null && 'error' in detail) return textOf(detail.error)
  return typeof detail === 'string' ? [detail] : []
}
