import { expect, test } from 'vitest'
import { matchLine } from './match-line.ts'

test('matches are marked, in one line without control characters', () => {
  const snippet = '… fly\n to \u001b[2JOslo, oslo 🛶'
  const at = (word: string): readonly [number, number] => [snippet.indexOf(word), snippet.indexOf(word) + word.length]
  const match = { kind: 'answer', at: 0, snippet, ranges: [at('Oslo'), at('oslo')] } as const
  expect(matchLine(match, (shade, text) => `<${shade} ${text}>`)).toBe('<dim answer:> … fly to <yellow Oslo>, <yellow oslo> 🛶')
})
