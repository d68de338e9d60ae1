import { oneLine } from '../../util/one-line.ts'
import type { LoadedExtension } from '../shared/kernel-types.ts'

interface Described {
  readonly id: string
  readonly text: string
}

/** For the prompt of the orchestrator: only what it really has. */
export function capabilitySummary(tools: readonly Described[], agents: readonly Described[]): string {
  const part = (title: string, all: readonly Described[]): readonly string[] =>
    all.length === 0 ? [] : [`${title}:\n${all.map(({ id, text }) => `- ${id}: ${oneLine(text)}`).join('\n')}`]
  return [...part('Available tools', tools), ...part('Available agents', agents)].join('\n\n')
}

export const describedExtension = ({ found: { id, manifest } }: LoadedExtension): Described => ({
  id,
  text: manifest?.naturalLanguageDescription ?? manifest?.description ?? id,
})
