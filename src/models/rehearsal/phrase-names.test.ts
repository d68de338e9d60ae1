import { describe, expect, it } from 'vitest'
import { indexTools, rankTools } from './choose-tools.ts'
import { readWords } from './words.ts'

const spec = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } })
const index = indexTools([spec('look_up', 'Looks a word up.'), spec('send_letter', 'Sends a letter.')])
const chosen = (text: string) => rankTools(readWords(text), index).map(({ tool }) => tool.tool.name)

describe('a name of words without meaning of their own', () => {
  it.each(['look up troupe', 'Please look up the word fjord'])('is meant where it is said as a whole: %s', (text) => {
    expect(chosen(text)).toEqual(['look_up'])
  })
  it.each(['look at this', 'what is up?', 'up and down'])('and not otherwise: %s', (text) => expect(chosen(text)).toEqual([]))
})
