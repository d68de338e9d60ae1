import type { InputPart } from '../../contracts/index.ts'
import { wellFormed } from '../../util/well-formed.ts'
import type { RunInput } from '../options/agent-runtime.ts'

export function partsOf(input: RunInput): readonly InputPart[] {
  if (typeof input === 'string') return [{ type: 'text', text: wellFormed(input) }]
  return input.map((part) => (part.type === 'text' && !part.text.isWellFormed() ? { ...part, text: part.text.toWellFormed() } : part))
}
