import type { JsonOutput } from '../../contracts/index.ts'

/** A system message that also asks for JSON, for models that cannot be asked for it in any other way. */
export function withOutputWish(system: string, output: JsonOutput | undefined): string {
  if (!output) return system
  const wish = 'When you answer, answer with one JSON value alone: no code fence and no words around it.'
  const shape = output.schema ? ` It has to match this JSON Schema:\n${JSON.stringify(output.schema)}` : ''
  return [system, wish + shape].filter((text) => text !== '').join('\n\n')
}
