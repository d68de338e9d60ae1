import { describe, expect, it } from 'vitest'
import { indexTools, rankTools } from './choose-tools.ts'
import { readWords } from './words.ts'

const tool = (name: string, description = '', properties = {}) => ({ name, description, inputSchema: { type: 'object', properties } })
const ranked = (request: string, ...tools: readonly ReturnType<typeof tool>[]) =>
  rankTools(readWords(request), indexTools(tools)).map((choice) => choice.tool.tool.name)

describe('a tool is chosen', () => {
  it('by its name, however that is written', () => {
    for (const name of ['look_up_tides', 'lookUpTides', 'harbour.tides', 'sea__tides'])
      expect(ranked('the tide today', tool(name))).toEqual([name])
  })
  it('by a word that means the same', () => {
    expect(ranked('will it rain', tool('get_weather'))).toEqual(['get_weather'])
  })
  it('by a value that only it takes', () => {
    const pick = tool('pick', '', { fruit: { enum: ['cherries', 'plums'] } })
    expect(ranked('some cherries', pick, tool('sort'))).toEqual(['pick'])
  })
  it('by two words of its description, not by one', () => {
    const describe = tool('xyz', 'Measures the depth of a harbour.')
    expect(ranked('depth of the harbour', describe, tool('abc'))).toEqual(['xyz'])
    expect(ranked('a harbour', describe, tool('abc'))).toEqual([])
  })
  it('by its whole name, when that is written out', () => {
    expect(ranked('use get_it now', tool('get_it'), tool('get_them'))).toEqual(['get_it'])
  })
})

describe('a tool is not chosen', () => {
  it('by a word that most of them share', () => {
    const tools = ['read_file', 'write_file', 'list_files', 'search_files', 'shell'].map((name) => tool(name))
    expect(ranked('the file', ...tools)).toEqual([])
  })
  it('by a common verb alone', () => {
    expect(ranked('list jokes', tool('list_files'), tool('shell'))).toEqual([])
  })
  it('by words that everybody uses', () => {
    expect(ranked('could you look that up for me please', tool('look_up_tides', 'You can look up all that.'))).toEqual([])
  })
})
