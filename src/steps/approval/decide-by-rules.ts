import type { ApprovalDecision, ApprovalRequest } from '../../contracts/index.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { asSentence } from '../../util/as-sentence.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { wholeToolKey } from './approval-request.ts'
import { findGrant, rulingFor } from './permission.ts'
import type { Ruling, Subject } from './rules.ts'

export interface Settlement {
  readonly decision: ApprovalDecision
  readonly by: string
}

/** The decision of the current rules and grants on an open request. `undefined`: a person must decide. */
export function decideByRules(session: ActiveSession, request: ApprovalRequest): Settlement | undefined {
  const ruled = rulingFor(session, subjectOf(session, request))
  if (ruled?.verdict === 'deny') return { decision: { kind: 'deny', feedback: denialText(ruled) }, by: ruled.rule }
  if (request.scope === 'question') return undefined
  const by = ruled?.verdict === 'allow' ? ruled.rule : findGrant(session, broadKeys(request, ruled), request.keys)
  return by === undefined ? undefined : { decision: { kind: 'approve', breadth: 'once' }, by }
}

function subjectOf({ ports: { registry } }: ActiveSession, { scope, tool: name, keys, input }: ApprovalRequest): Subject {
  if (scope === 'unsandboxed') return { names: [unsandboxedName], keys }
  const own = registry.find(name)?.name
  const named = keys.filter(({ key }) => key !== wholeToolKey(name).key)
  return { names: own === undefined || own === name ? [name] : [name, own], keys: named, input }
}

function broadKeys({ scope, tool, keys }: ApprovalRequest, ruled: Ruling | undefined): readonly string[] {
  if (scope !== 'call' || ruled?.isUnsure || keys.some(({ mustBeNamed }) => mustBeNamed)) return []
  return [wholeToolKey(tool).key]
}

const denialText = ({ rule, reason }: Ruling): string => {
  const why = reason === undefined ? '' : ` ${asSentence(reason)}`
  return `a rule forbids it: ${rule}.${why}`
}
