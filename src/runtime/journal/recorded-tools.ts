import { createHash } from 'node:crypto'
import type { Json, ToolSpec } from '../../contracts/index.ts'
import type { Offering } from '../../core/index.ts'
import type { Redactor } from '../../util/redact.ts'

interface RecordedTools {
  readonly hash: string
  readonly tools: readonly ToolSpec[]
  readonly instructions: string
}

/** Sessions share their offers, and mostly their redactor. */
const known = new WeakMap<Offering, { readonly redactor: Redactor; readonly recorded: RecordedTools }>()

/** An offer as the journal has it: without secrets. */
export function recordedTools(offer: Offering, redactor: Redactor): RecordedTools {
  const before = known.get(offer)
  if (before?.redactor === redactor) return before.recorded
  const tools = redactor.json(offer.specs as unknown as Json) as unknown as readonly ToolSpec[]
  const instructions = redactor.text(offer.instructions)
  const hash = createHash('sha256')
    .update(JSON.stringify([tools, instructions]))
    .digest('base64url')
  const recorded = { hash, tools, instructions }
  known.set(offer, { redactor, recorded })
  return recorded
}
