import { createHmac, timingSafeEqual } from 'node:crypto'

// Signatures of Standard Webhooks (https://www.standardwebhooks.com), and of GitHub.

/** `whsec_` and 24 to 64 bytes in base64. */
export const isWebhookSecret = (secret: string): boolean => /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2,3}=?=?)?$/.test(secret)

interface SignedDelivery {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: string
  readonly body: string | Uint8Array
}

/** `v1,BASE64`. */
export function standardSignature(secret: string, { id, timestamp, body }: SignedDelivery): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

/** `sha256=HEX`. */
export const githubSignature = (secret: string, body: Uint8Array): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** Compares in constant time, whatever the lengths are. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'comparison').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
