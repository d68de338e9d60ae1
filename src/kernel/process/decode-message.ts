import { isRecord } from '../../util/is-record.ts'
import { unsafeJson } from '../shared/value-shapes.ts'
import type { WireMessage } from './runner/wire.ts'

type Decoded = { readonly ok: true; readonly message: WireMessage } | { readonly ok: false; readonly reason: string }

/** A line from the process of an extension. It can contain anything; `answer-shapes.ts` and `ContextRequests` check what is in a message. */
export function decodeMessage(line: string): Decoded {
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return wrong('it sent a line that is not JSON')
  }
  const unsafe = unsafeJson(message)
  if (unsafe !== undefined) return wrong(`it sent ${unsafe}`)
  if (!isRecord(message) || message.jsonrpc !== '2.0') return wrong('it sent JSON that is not a message')
  const { method, params } = message
  if (method === undefined) return { ok: true, message: message as unknown as WireMessage }
  if (typeof method !== 'string' || (params !== undefined && !isRecord(params)))
    return wrong('it sent a wrong message: `method` or `params` is wrong')
  return { ok: true, message: message as unknown as WireMessage }
}

const wrong = (reason: string): Decoded => ({ ok: false, reason })
