import type { TraceContext } from '../../contracts/index.ts'

const maxStateChars = 512

/** W3C Trace Context of a request. What is not valid is ignored, as the standard asks: the turn then begins a trace of its own. */
export function traceContextOf(headers: Headers): TraceContext | undefined {
  const [, version, ids, more] = /^([\da-f]{2})-([\da-f]{32}-[\da-f]{16}-[\da-f]{2})(-.*)?$/.exec(headers.get('traceparent') ?? '') ?? []
  if (version === undefined || ids === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+-|-0+-/.test(ids)) return undefined
  const tracestate = headers.get('tracestate') ?? ''
  // Later versions may have more fields: this one has those that we know.
  return { traceparent: `00-${ids}`, ...(tracestate !== '' && tracestate.length <= maxStateChars && { tracestate }) }
}
